"""Pairs the collectives of a report with those that XLA compiles, and counts pairs by the difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations_with_replacement

from benchmarks.calibration.collectives import Moved

HIT = "same"
_REDUCTIONS = ("all_reduce", "reduce_scatter")

# What is equal in the pairs of each reason, from the least difference to the greatest: (reason, key).
_PAIRED: tuple[tuple[str, Callable[[Moved], Hashable]], ...] = (
    (HIT, lambda each: (each.kind, each.groups, each.bytes)),
    ("other element type", lambda each: (each.kind, each.groups, each.elements)),
    (
        "reduce-scatter or all-reduce",
        lambda each: ("reduction" if each.kind in _REDUCTIONS else each, each.groups, each.bytes),
    ),
    ("other axes", lambda each: (each.kind, each.bytes)),
    ("other kind", lambda each: (each.groups, each.bytes)),
    ("other tensor", lambda each: (each.kind, each.groups)),
)
AXIS_BY_AXIS = "axis by axis"
REPEATED, ONLY_REPORT, ONLY_XLA = "repeated", "only in the report", "only in XLA"
REASONS = (HIT, AXIS_BY_AXIS, *(reason for reason, _ in _PAIRED[1:]), REPEATED, ONLY_REPORT, ONLY_XLA)


def compare(report: Sequence[Moved], xla: Sequence[Moved]) -> Counter[str]:
    """The number of pairs by reason, and of collectives that are in no pair."""
    found: Counter[str] = Counter()
    ours, theirs = Counter(report), Counter(xla)
    hits = Counter(ours) & Counter(theirs)
    found[HIT] = _pair(ours, theirs, _PAIRED[0][1])
    found[AXIS_BY_AXIS] = _pair_with_two(ours, theirs)
    for reason, key in _PAIRED[1:]:
        found[reason] += _pair(ours, theirs, key)
    for each, count in ours.items():
        # XLA has this collective, but fewer times.
        found[REPEATED if hits[each] else ONLY_REPORT] += count
    for each, count in theirs.items():
        found[REPEATED if hits[each] else ONLY_XLA] += count
    return found


def _pair_with_two(ours: Counter[Moved], theirs: Counter[Moved]) -> int:
    """Removes all-reduces of a report that XLA splits into two all-reduces, and returns their number."""
    found = 0
    for each in list(ours.elements()):
        if each.kind != "all_reduce":
            continue
        parts = [
            part
            for part, count in theirs.items()
            if count
            and part.kind == each.kind
            and part.elements == each.elements
            and part.groups != each.groups
        ]
        for first, second in combinations_with_replacement(parts, 2):
            if theirs[first] > (first is second) and theirs[second] and is_product(each, first, second):
                ours[each] -= 1
                theirs[first] -= 1
                theirs[second] -= 1
                found += 1
                break
    return found


def is_product(whole: Moved, first: Moved, second: Moved) -> bool:
    """Whether two successive reductions reduce over the groups of `whole`."""
    size, one, two = (max(map(len, each.groups)) for each in (whole, first, second))
    return size == one * two and all(
        any(group <= around for around in whole.groups) for group in (*first.groups, *second.groups)
    )


def _pair(ours: Counter[Moved], theirs: Counter[Moved], key: Callable[[Moved], Hashable]) -> int:
    """Removes pairs with equal keys from both sides, and returns their number."""
    waiting: dict[Hashable, list[Moved]] = {}
    for each in theirs.elements():
        waiting.setdefault(key(each), []).append(each)
    pairs = 0
    for each in list(ours.elements()):
        if candidates := waiting.get(key(each)):
            ours[each] -= 1
            theirs[candidates.pop()] -= 1
            pairs += 1
    return pairs
