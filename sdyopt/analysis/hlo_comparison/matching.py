"""Pairs the collectives of a report with those that XLA compiled, each with the class of the difference."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations

from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.base.dataclasses import dataclass

HIT = "same"
AXIS_BY_AXIS = "axis by axis"
REPEATED, ONLY_REPORT, ONLY_XLA = "repeated", "only in the report", "only in XLA"
REMATERIALIZED = "full rematerialization"
_REDUCTIONS = ("all_reduce", "reduce_scatter")

Key = Callable[[CollectiveOperand], Hashable]

# The reasons for pairs, from the least difference to the greatest, with the key that is equal in a pair.
_PAIRED: tuple[tuple[str, Key], ...] = (
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

# What each class of differences means.
MEANINGS = {
    HIT: "the same kind, the same groups of devices and the same bytes",
    AXIS_BY_AXIS: "XLA sums along one mesh axis and then along another, the report along both at once",
    "other element type": "the same elements in another type: XLA for CPU sums, and often moves, 16-bit "
    "floats as float32",
    "reduce-scatter or all-reduce": "one side sums and keeps a shard (reduce-scatter), the other sums the "
    "whole tensor and slices it (all-reduce), which sends twice as much",
    "other axes": "as many bytes along other mesh axes: XLA changes one PartitionSpec to the next in another "
    "order, or along a part of an axis",
    "other kind": "as many bytes along the same mesh axes: XLA changes one PartitionSpec to the next by "
    "another collective",
    "other tensor": "the same kind along the same mesh axes, with other bytes: XLA sends before a slice, a "
    "pad or a change of dtype what the report sends after it, or the other way round",
    REPEATED: "one side sends the same tensor more often: XLA gathers a weight again for the backward pass, "
    "or sends once what the report sends twice",
    REMATERIALIZED: "XLA gathers a tensor, and each device takes its slice in another sharding: it "
    "warns of an involuntary full rematerialization",
    ONLY_REPORT: "XLA has no such collective: it computes the tensor on each device, keeps it sharded, or "
    "moves it with another one",
    ONLY_XLA: "XLA's partitioner adds it: borders of convolutions and pads, steps of sorts, gathers and "
    "scatters, or a change of sharding between operations",
}
REASONS = tuple(MEANINGS)


@dataclass(frozen=True, slots=True)
class Match:
    """Collectives of the report and of XLA that correspond, or one that has no counterpart, and why."""

    reason: str
    ours: tuple[CollectiveOperand, ...]
    theirs: tuple[CollectiveOperand, ...]


def match_collectives(report: Sequence[CollectiveOperand], xla: Sequence[CollectiveOperand]) -> list[Match]:
    """The pairs, and the collectives without one, in the order of the report, then of XLA.

    Of several that correspond equally, those of the same line that run as often do first.
    """
    ours, theirs = dict.fromkeys(range(len(report))), dict.fromkeys(range(len(xla)))
    found: list[tuple[int, Match]] = []

    def take(reason: str, key: Key) -> None:
        for is_likely in _LIKELY:
            for here, there in _pairs(report, xla, ours, theirs, key, is_likely):
                del ours[here], theirs[there]
                found.append((here, Match(reason, (report[here],), (xla[there],))))

    take(*_PAIRED[0])
    hits = {_PAIRED[0][1](each) for _, match in found for each in match.ours}
    found += _pairs_with_two(report, xla, ours, theirs)
    for reason, key in _PAIRED[1:]:
        take(reason, key)
    for here in ours:
        # Repeated: the other side has an equal collective, but fewer of them.
        is_repeated = _PAIRED[0][1](report[here]) in hits
        found.append((here, Match(REPEATED if is_repeated else ONLY_REPORT, (report[here],), ())))
    for there in theirs:
        is_repeated = _PAIRED[0][1](xla[there]) in hits
        reason = REPEATED if is_repeated else ONLY_XLA
        match = Match(REMATERIALIZED if xla[there].is_sliced else reason, (), (xla[there],))
        found.append((len(report) + there, match))
    return [match for _, match in sorted(found, key=lambda pair: pair[0])]


def _pairs(
    report: Sequence[CollectiveOperand],
    xla: Sequence[CollectiveOperand],
    ours: Iterable[int],
    theirs: Iterable[int],
    key: Key,
    is_likely: Callable[[CollectiveOperand, CollectiveOperand], bool],
) -> list[tuple[int, int]]:
    """Pairs with equal keys that are likely to correspond, each collective in one of them."""
    waiting: dict[Hashable, list[int]] = {}
    for there in theirs:
        waiting.setdefault(key(xla[there]), []).append(there)
    found = []
    for here in ours:
        candidates = waiting.get(key(report[here]), [])
        likely = next((each for each in candidates if is_likely(report[here], xla[each])), None)
        if likely is not None:
            candidates.remove(likely)
            found.append((here, likely))
    return found


def _share_a_line(ours: CollectiveOperand, theirs: CollectiveOperand) -> bool:
    here = ours.location
    return bool(here.line) and any(
        (frame.file, frame.line) == (here.file, here.line) for frame in theirs.location.frames
    )


def _run_equally(ours: CollectiveOperand, theirs: CollectiveOperand) -> bool:
    return ours.times == theirs.times


# Of several that correspond, those of the same line that run as often do first.
_LIKELY: tuple[Callable[[CollectiveOperand, CollectiveOperand], bool], ...] = (
    lambda ours, theirs: _run_equally(ours, theirs) and _share_a_line(ours, theirs),
    _run_equally,
    _share_a_line,
    lambda ours, theirs: True,
)


def _pairs_with_two(
    report: Sequence[CollectiveOperand],
    xla: Sequence[CollectiveOperand],
    ours: dict[int, None],
    theirs: dict[int, None],
) -> list[tuple[int, Match]]:
    """Removes each all-reduce of a report that XLA splits into two all-reduces, and these two."""
    found = []
    by_elements: dict[int, list[int]] = {}
    for there in theirs:
        if xla[there].kind == "all_reduce":
            by_elements.setdefault(xla[there].elements, []).append(there)
    for here in [each for each in ours if report[each].kind == "all_reduce"]:
        whole = report[here]
        parts = by_elements.get(whole.elements, [])
        # One candidate for each set of groups, and a second one of the same.
        distinct: dict[object, list[int]] = {}
        for there in parts:
            if xla[there].groups != whole.groups and len(distinct.setdefault(xla[there].groups, [])) < 2:
                distinct[xla[there].groups].append(there)
        candidates = [there for group in distinct.values() for there in group]
        for first, second in combinations(candidates, 2):
            if is_product(whole, xla[first], xla[second]):
                for there in (first, second):
                    del theirs[there]
                    parts.remove(there)
                del ours[here]
                found.append((here, Match(AXIS_BY_AXIS, (whole,), (xla[first], xla[second]))))
                break
    return found


def is_product(whole: CollectiveOperand, first: CollectiveOperand, second: CollectiveOperand) -> bool:
    """Whether reducing in the groups of `first`, then in those of `second`, may reduce in those of `whole`.

    The sizes of the groups of `first` and `second` multiply to that of `whole`, and each group is within a
    group of `whole`.
    """
    size, one, two = whole.group_size, first.group_size, second.group_size
    return size == one * two and all(
        any(group <= around for around in whole.groups) for group in (*first.groups, *second.groups)
    )
