"""Pairs the collectives of a report with those that XLA compiles, and counts pairs by their difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations_with_replacement

from benchmarks.calibration.collectives import CollectiveOperand

HIT = "same"
_REDUCTIONS = ("all_reduce", "reduce_scatter")

# The reasons for pairs, from the least difference to the greatest, with the key that is equal in a pair.
_PAIRED: tuple[tuple[str, Callable[[CollectiveOperand], Hashable]], ...] = (
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


def compare(report: Sequence[CollectiveOperand], xla: Sequence[CollectiveOperand]) -> Counter[str]:
    """The number of pairs, and of collectives without a pair, by reason."""
    found: Counter[str] = Counter()
    ours, theirs = Counter(report), Counter(xla)
    hits = Counter(ours) & Counter(theirs)
    found[HIT] = _pair(ours, theirs, _PAIRED[0][1])
    found[AXIS_BY_AXIS] = _pair_with_two(ours, theirs)
    for reason, key in _PAIRED[1:]:
        found[reason] += _pair(ours, theirs, key)
    for each, count in ours.items():
        # Repeated: XLA has an equal collective, but fewer of them.
        found[REPEATED if hits[each] else ONLY_REPORT] += count
    for each, count in theirs.items():
        found[REPEATED if hits[each] else ONLY_XLA] += count
    return found


def _pair_with_two(ours: Counter[CollectiveOperand], theirs: Counter[CollectiveOperand]) -> int:
    """Removes each all-reduce of a report that XLA splits into two all-reduces, and these two.

    Returns how many all-reduces of the report were removed.
    """
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


def is_product(whole: CollectiveOperand, first: CollectiveOperand, second: CollectiveOperand) -> bool:
    """Whether reducing in the groups of `first`, then in those of `second`, may reduce in those of `whole`.

    The sizes of the groups of `first` and `second` multiply to that of `whole`, and each group is within a
    group of `whole`.
    """
    size, one, two = (max(map(len, each.groups)) for each in (whole, first, second))
    return size == one * two and all(
        any(group <= around for around in whole.groups) for group in (*first.groups, *second.groups)
    )


def _pair(
    ours: Counter[CollectiveOperand],
    theirs: Counter[CollectiveOperand],
    key: Callable[[CollectiveOperand], Hashable],
) -> int:
    """Removes pairs with equal keys from both sides, and returns their number."""
    waiting: dict[Hashable, list[CollectiveOperand]] = {}
    for each in theirs.elements():
        waiting.setdefault(key(each), []).append(each)
    pairs = 0
    for each in list(ours.elements()):
        if candidates := waiting.get(key(each)):
            ours[each] -= 1
            theirs[candidates.pop()] -= 1
            pairs += 1
    return pairs
