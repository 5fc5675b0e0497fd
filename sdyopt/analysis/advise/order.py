"""The order of changes, each of which makes a program cheaper, and which of them are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from sdyopt.analysis.advise.advice import AdvisedChange

# A change is nearly as fast as another one that saves this much more of the program's time.
_NEARLY = Fraction(1, 20)


def without_equals(found: Sequence[AdvisedChange]) -> Iterable[AdvisedChange]:
    """The changes without those of an annotation, or with the figures at a place, that one before has.

    Of those with one effect, the easiest one to write is left.
    """
    easiest: dict[object, AdvisedChange] = {}
    for each in found:
        key = _effect_of(each)
        if key not in easiest or _difficulty(each) < _difficulty(easiest[key]):
            easiest[key] = each
    seen: set[object] = set()
    for each in (easiest[_effect_of(each)] for each in found):
        places = [change.subject for change in each.move.changes]
        keys: set[object] = {(places[0], each.after)}
        keys |= {(change.subject, change.sharding) for change in each.move.changes}
        if not keys & seen:
            yield each
        seen |= keys


def _effect_of(change: AdvisedChange) -> object:
    """What is equal for new constraints of a gradient and of what is computed from it.

    They give the same results the same sharding, with the same figures. The weights of two layers may have
    the same figures, too, but other results.
    """
    first = change.move.changes[0]
    is_new = first.is_new_constraint and change.results
    return first.sharding, change.after, change.results if is_new else first.subject


def _difficulty(change: AdvisedChange) -> int:
    """How many of its constraints are written within a backward pass."""
    return sum(bool(each.how) for each in change.move.changes)


def each_place_once(found: Sequence[AdvisedChange]) -> list[AdvisedChange]:
    """The best change of each place, and then the others."""
    best: list[AdvisedChange] = []
    others: list[AdvisedChange] = []
    places: set[object] = set()
    for each in found:
        place = each.move.changes[0].subject
        (others if place in places else best).append(each)
        places.add(place)
    return best + others


def less_sent_first(found: Sequence[AdvisedChange], moves_whole: bool) -> list[AdvisedChange]:
    """The changes, those that send more after those that do not and are nearly as fast.

    `moves_whole` is that of `AdvisedChange.saved`.
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
