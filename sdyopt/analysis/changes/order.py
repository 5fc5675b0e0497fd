"""The order of changes, each of which makes a program cheaper, and which of them are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from sdyopt.analysis.changes.trials import Trial

# A change is nearly as fast as another one that saves this much more of the program's time.
_NEARLY = Fraction(1, 20)


def without_equals(found: Sequence[Trial]) -> Iterable[Trial]:
    """The changes without those of an annotation, or with the figures at a place, that one before has.

    Of those with one effect, the easiest one to write is left.
    """
    easiest: dict[object, Trial] = {}
    for each in found:
        key = _effect_of(each)
        if key not in easiest or _difficulty(each) < _difficulty(easiest[key]):
            easiest[key] = each
    seen: set[object] = set()
    for each in (easiest[_effect_of(each)] for each in found):
        keys: set[object] = {(_place(each), each.after)}
        keys |= {(edit.subject, edit.sharding, edit.is_removal) for edit in each.change.edits}
        if not keys & seen:
            yield each
        seen |= keys


def _place(trial: Trial) -> object:
    """The first place of a change, or what it is."""
    return trial.change.edits[0].subject if trial.change.edits else trial.change.words


def _effect_of(trial: Trial) -> object:
    """What is equal for new constraints of a gradient and of what is computed from it.

    They give the same results the same sharding, with the same figures. The weights of two layers may have
    the same figures, too, but other results.
    """
    if not trial.change.edits:
        return trial.change.words, trial.after
    first = trial.change.edits[0]
    is_new = first.is_new_constraint and trial.results
    return first.sharding, trial.after, trial.results if is_new else first.subject


def _difficulty(trial: Trial) -> int:
    """How many of its constraints are written within a backward pass."""
    return sum(bool(each.how) for each in trial.change.edits)


def each_place_once(found: Sequence[Trial]) -> list[Trial]:
    """The best change of each place."""
    best: dict[object, Trial] = {}
    for each in found:
        best.setdefault(_place(each), each)
    return list(best.values())


def less_sent_first(found: Sequence[Trial], moves_whole: bool) -> list[Trial]:
    """The changes, those that send more after those that do not and are nearly as fast.

    `moves_whole` is that of `Trial.saved`.
    """
    rest, ordered = list(found), []
    while rest:
        first = rest[0]
        if first.sends_more:
            least = first.saved(moves_whole) - _NEARLY
            near = (each for each in rest if not each.sends_more and each.saved(moves_whole) >= least)
            first = next(near, first)
        rest.remove(first)
        ordered.append(first)
    return ordered
