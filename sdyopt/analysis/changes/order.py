"""The order of changes, each of which makes a program cheaper, and which of them are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial

from sdyopt.analysis.changes.effect import NOISE
from sdyopt.analysis.changes.trials import Trial

# A change is nearly as fast as another one that saves this much more of the program's time.
_NEARLY = Fraction(1, 20)
# A change of fewer places comes first if it saves no less but for this share.
_TENTH = Fraction(1, 10)
# What is written at a part of the places comes first if it saves this share, and more for each of them.
_HALF = Fraction(1, 2)


def without_equals(trials: Sequence[Trial], moves_whole: bool) -> Iterable[Trial]:
    """The changes without those of an annotation, or with the figures at a place, that one before has.

    Of those with one effect, the easiest one to write is left; and a part of a change that saves nearly as
    much.
    """
    easiest: dict[object, Trial] = {}
    for trial in trials:
        key = _effect_of(trial)
        if key not in easiest or _difficulty(trial) < _difficulty(easiest[key]):
            easiest[key] = trial
    seen: dict[object, Trial] = {}
    for trial in (easiest[_effect_of(trial)] for trial in trials):
        keys: set[object] = {(_place(trial), trial.after)}
        keys |= {(edit.subject, edit.sharding, edit.is_removal) for edit in trial.change.edits}
        if all(_is_within(trial, seen[key], moves_whole) for key in keys if key in seen):
            yield trial
        for key in keys:
            seen.setdefault(key, trial)


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
    first, after = trial.change.edits[0], trial.after
    if first.is_new_constraint and trial.results:
        # One before or after an elementwise operation differs in the time of that.
        return first.sharding, trial.results, after.wire_bytes, after.peak_bytes, after.reshards
    return first.sharding, after, first.subject


def _difficulty(trial: Trial) -> int:
    """How many of its constraints are written within a backward pass."""
    return sum(bool(edit.how) for edit in trial.change.edits)


def each_place_once(trials: Sequence[Trial]) -> list[Trial]:
    """The best change of each place."""
    best: dict[object, Trial] = {}
    for trial in trials:
        best.setdefault(_place(trial), trial)
    return list(best.values())


def surest_first(trials: Sequence[Trial], moves_whole: bool) -> list[Trial]:
    """The changes, of those that are nearly as fast first what sends no more, with the least time at most.

    What differs from the fastest by less than noise is no reason to come before it. Of those that save alike,
    the one of the fewest places comes first. `moves_whole` is that of
    `Trial.saved`.
    """
    rest, ordered = list(trials), []
    while rest:
        first = rest[0]
        least = first.saved(moves_whole) - _NEARLY
        near = [trial for trial in rest if trial.saved(moves_whole) >= least]
        surest = min(near, key=lambda trial: (trial.sends_more, trial.after.at_most(moves_whole)))
        least_gain = NOISE * first.before.at_most(moves_whole)
        is_surer = surest.after.at_most(moves_whole) < first.after.at_most(moves_whole) - least_gain
        if is_surer or surest.sends_more != first.sends_more:
            first = surest
        alike = [trial for trial in near if _saves_nearly(trial, first, moves_whole)]
        first = min([first, *alike], key=_places) if _places(first) > 1 else first
        # The changes of some of the constraints of a wide one that save half as much as it, or more.
        # These were written otherwise than the rest of them: of equal ones, all are wrong.
        within = (trial for trial in rest if _is_within(trial, first, moves_whole))
        first = max([first, *within], key=partial(_gain, moves_whole))
        rest.remove(first)
        ordered.append(first)
    return ordered


def _saves_nearly(trial: Trial, best: Trial, moves_whole: bool) -> bool:
    """Whether a change saves as much as another one of time, and of what is sent, but for a tenth."""
    sent, most = trial.before.wire_bytes, 1 - _TENTH
    is_fast = trial.saved(moves_whole) >= most * best.saved(moves_whole)
    return is_fast and sent - trial.after.wire_bytes >= most * (sent - best.after.wire_bytes)


def _is_within(trial: Trial, wide: Trial, moves_whole: bool) -> bool:
    edits = (*trial.change.edits, *wide.change.edits)
    if not trial.change.edits or any(edit.replaced is None for edit in edits) or trial.sends_more:
        return False
    is_part = _places_of(trial) < _places_of(wide) and len(_now(trial)) < len(_now(wide))
    return is_part and trial.saved(moves_whole) >= _HALF * wide.saved(moves_whole)


def _now(trial: Trial) -> set[object]:
    """What is written at the places of a change, for values of which types."""
    return {
        (edit.replaced.sharding, edit.named.type) for edit in trial.change.edits if edit.replaced is not None
    }


def _gain(moves_whole: bool, trial: Trial) -> Fraction:
    """What a change saves for each place."""
    return trial.saved(moves_whole) / max(_places(trial), 1)


def _places(trial: Trial) -> int:
    """The number of places where a change is written.

    Inputs and results that get one sharding are one, as what an optimizer keeps of a parameter follows it.
    """
    pairs = zip(trial.change.edits, trial.annotations, strict=False)
    return len({(annotation.place, annotation.sdy)[edit.is_boundary] for edit, annotation in pairs})


def _places_of(trial: Trial) -> frozenset[str]:
    return frozenset(annotation.place for annotation in trial.annotations)
