"""The state of a matching: collectives without a counterpart, pairs, and collectives sent in parts.

Features and keys of collectives are numbers, computed once; of several counterparts, a search finds the
nearest. So the time is about that of sorting the collectives, however many are at one place.

Compilers send collectives in parts: rings of permutes, and parts within and between slices.

    %p1 = collective-permute(%x), source_target_pairs={{0,1},{1,2},{2,0}}      in a loop, or for each step

TPU makes them of a product and the collective of its operand or its result (a collective matmul).

    %s = reduce-scatter(%x); send(%s), "ALL_REDUCE", {1,2}x{0:7}; %r = all-gather(%recv)     one all-reduce
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from sdyopt.analysis.hlo_comparison.accelerators import joined
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, Groups, in_all_slices, size_of
from sdyopt.analysis.hlo_comparison.hlo_graph import REARRANGE, HloValue, Instruction
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.reasons import (
    ELSEWHERE,
    HIT,
    OWN_PLACES,
    TYPE,
    Feature,
    call_lines_and_name,
    has_place,
    label,
    own_line_and_name,
    used_at,
)
from sdyopt.base.dataclasses import dataclass

Key = Callable[[CollectiveOperand], Hashable]
Place = tuple[Feature, Feature]
# Of collectives of one place that are alike, so many are looked at.
_MAX_ALIKE = 8
# What is said of the reasons of one match.
_MAX_REASONS = 8


class Pairing:
    """The collectives of the report and of XLA that have no counterpart yet, and the matches so far."""

    def __init__(
        self,
        report: Sequence[CollectiveOperand],
        xla: Sequence[CollectiveOperand],
        program: CompiledProgram,
    ) -> None:
        self.report = report
        self.xla = xla
        self.program = program
        self.ours = dict.fromkeys(range(len(report)))
        self.theirs = dict.fromkeys(range(len(xla)))
        # The class, and the numbers of the collectives; several matches have no ours.
        self.matched: list[tuple[str, list[int], list[int], list[str]]] = []
        self.match_of: dict[int, int] = {}
        # Of those that are parts of a collective without a counterpart, what is said of it.
        self.parts: dict[int, str] = {}
        self._features: dict[Place, tuple[list[list[int]], list[list[int]]]] = {}
        self._keys: dict[Key, tuple[list[int], list[int]]] = {}

    def take(self, reason: str, key: Key, place: Place, needs_place_unknown: bool = False) -> None:
        """Pairs with equal keys and a place in common; of several, those with the nearest bytes."""
        of_ours, of_theirs = self._features_of(place)
        our_keys, their_keys = self._keys_of(key)
        wanted = {(our_keys[here], feature) for here in self.ours for feature in of_ours[here]}
        waiting: dict[tuple[int, int, bool], _Waiting] = {}
        sizes, placed = self._sizes, self._has_place
        # The largest number first, as the last of a list is taken.
        for there in reversed(self.theirs):
            for feature in of_theirs[there]:
                if (their_keys[there], feature) in wanted:
                    key_of_bucket = their_keys[there], feature, needs_place_unknown and placed[there]
                    waiting.setdefault(key_of_bucket, _Waiting()).add(sizes[there], there)
        if not waiting:
            return
        for here in list(self.ours):
            is_placed = needs_place_unknown and has_place(self.report[here])
            size = self.report[here].wire_bytes_of_runs
            nearest = min(
                (
                    candidate
                    for feature in of_ours[here]
                    for has in (False, True)[: 1 if is_placed or not needs_place_unknown else 2]
                    if (bucket := waiting.get((our_keys[here], feature, has))) is not None
                    and (candidate := bucket.nearest(size, self.theirs)) is not None
                ),
                default=None,
            )
            if nearest is not None:
                self.add(reason, [here], [nearest[1]])

    def add(self, reason: str, ours: Sequence[int], theirs: Sequence[int], why: str = "") -> None:
        """Matches collectives."""
        for here in ours:
            del self.ours[here]
        for there in theirs:
            del self.theirs[there]
            self.match_of[there] = len(self.matched)
        self.matched.append((reason, list(ours), list(theirs), [why] if why else []))

    def join(self, reason: str, there: int, to: int, why: str) -> None:
        """Adds one of XLA's to the match of another."""
        del self.theirs[there]
        number = self.match_of[there] = self.match_of[to]
        before, ours, theirs, reasons = self.matched[number]
        theirs.append(there)
        if why not in reasons and len(reasons) <= _MAX_REASONS:
            reasons.append(why if len(reasons) < _MAX_REASONS else "and more")
        if before in (HIT, ELSEWHERE, TYPE):
            self.matched[number] = reason, ours, theirs, reasons

    # --- Places -------------------------------------------------------------------------------

    def are_of_one_place(self, here: int, theirs: Iterable[int]) -> bool:
        """Whether one of the report and those of XLA have a place in common, or one has none."""
        ours = self.report[here]
        return all(
            self.rank(here, [there]) < len(OWN_PLACES) or not (has_place(ours) and self._has_place[there])
            for there in theirs
        )

    def are_of_one_argument(self, here: int, chain: Sequence[int]) -> bool:
        """Whether steps move the argument that one of the report does, for an operation of its place."""
        ours, last = self.report[here], self.xla[chain[-1]]
        if not ours.moved or any(self.xla[number].moved != ours.moved for number in chain):
            return False
        ends = {key for place in used_at(last) for key in call_lines_and_name(place)}
        return not ends.isdisjoint(own_line_and_name(ours.location))

    def rank(self, here: int, theirs: Iterable[int]) -> int:
        """How strongly places are the same, the greatest number of several being the weakest."""
        features = [self._features_of(place) for place in OWN_PLACES]
        return max(
            next(
                (
                    rank
                    for rank, (of_ours, of_theirs) in enumerate(features)
                    if not set(of_ours[here]).isdisjoint(of_theirs[there])
                ),
                len(OWN_PLACES),
            )
            for there in theirs
        )

    def alike(self, key: Key) -> Alike:
        """Those of the report by a key, to look for the counterpart of some of XLA's."""
        return Alike(self, key)

    def _features_of(self, place: Place) -> tuple[list[list[int]], list[list[int]]]:
        """The numbers of the features of each; those that the report does not have are left out."""
        features = self._features.get(place)
        if features is None:
            of_ours, of_theirs = place
            numbers: dict[Hashable, int] = {}
            ours = [
                [numbers.setdefault(key, len(numbers)) for key in dict.fromkeys(of_ours(collective))]
                for collective in self.report
            ]
            theirs = [
                [numbers[key] for key in dict.fromkeys(of_theirs(collective)) if key in numbers]
                for collective in self.xla
            ]
            features = self._features[place] = ours, theirs
        return features

    def _keys_of(self, key: Key) -> tuple[list[int], list[int]]:
        keys = self._keys.get(key)
        if keys is None:
            numbers: dict[Hashable, int] = {}
            sides = [
                [numbers.setdefault(key(operand), len(numbers)) for operand in side]
                for side in (self.report, self.xla)
            ]
            keys = self._keys[key] = sides[0], sides[1]
        return keys

    @cached_property
    def _sizes(self) -> list[Fraction]:
        return [operand.wire_bytes_of_runs for operand in self.xla]

    @cached_property
    def _has_place(self) -> list[bool]:
        return [has_place(operand) for operand in self.xla]

    def features_of_ours(self, here: int) -> Iterable[tuple[int, int]]:
        """The features by which one of the report is found: of a place, or the argument that it moves."""
        for rank, place in enumerate(OWN_PLACES):
            yield from ((rank, feature) for feature in self._features_of(place)[0][here])

    def features_of_theirs(self, there: int) -> Iterable[tuple[int, int]]:
        """The same for one of XLA."""
        for rank, place in enumerate(OWN_PLACES):
            yield from ((rank, feature) for feature in self._features_of(place)[1][there])


class _Waiting:
    """Collectives of one key and feature, by their bytes."""

    __slots__ = ("_numbers", "_sizes")

    def __init__(self) -> None:
        self._numbers: dict[Fraction, list[int]] = {}
        self._sizes: list[Fraction] | None = None

    def add(self, size: Fraction, number: int) -> None:
        self._numbers.setdefault(size, []).append(number)

    def nearest(self, size: Fraction, free: dict[int, None]) -> tuple[Fraction, int] | None:
        """The distance and the number of the nearest that is free."""
        if self._sizes is None:
            self._sizes = sorted(self._numbers)
        sizes = self._sizes
        while sizes:
            at = bisect_left(sizes, size)
            around = range(max(at - 1, 0), min(at + 1, len(sizes)))
            gone = [number for number in around if not self._has_free(sizes[number], free)]
            if not gone:
                return min((abs(sizes[number] - size), self._numbers[sizes[number]][-1]) for number in around)
            for number in reversed(gone):
                del sizes[number]
        return None

    def _has_free(self, size: Fraction, free: dict[int, None]) -> bool:
        numbers = self._numbers[size]
        while numbers and numbers[-1] not in free:
            numbers.pop()
        return bool(numbers)


class Alike:
    """Collectives of the report that have equal keys, by their places and their arguments."""

    def __init__(self, pairing: Pairing, key: Key) -> None:
        self._pairing = pairing
        self._by_key: dict[Hashable, list[int]] = {}
        self._by_feature: dict[Hashable, list[int]] = {}
        for here in reversed(pairing.ours):
            ours = pairing.report[here]
            known = key(ours)
            self._by_key.setdefault(known, []).append(here)
            others: list[Hashable] = [("argument", ours.moved)] if ours.moved else []
            others += [] if has_place(ours) else ["no place"]
            for feature in (*pairing.features_of_ours(here), *others):
                self._by_feature.setdefault((known, feature), []).append(here)

    def candidates(self, key: Hashable, there: int) -> list[int]:
        """Those that could be the counterpart of one of XLA, in order; of many, some of each place."""
        pairing = self._pairing
        if len(self._by_key.get(key, ())) <= _MAX_ALIKE:
            return sorted(self._free(self._by_key.get(key)))
        xla = pairing.xla[there]
        if not has_place(xla):
            return sorted(self._free(self._by_key.get(key)))
        features: list[Hashable] = [*pairing.features_of_theirs(there), "no place"]
        features += [("argument", xla.moved)] if xla.moved else []
        heres = {here for feature in features for here in self._free(self._by_feature.get((key, feature)))}
        return sorted(heres)

    def _free(self, numbers: list[int] | None) -> list[int]:
        """The first of a list that have no counterpart."""
        while numbers and numbers[-1] not in self._pairing.ours:
            numbers.pop()
        # Some behind the first may be gone, too.
        return [number for number in (numbers or ())[-_MAX_ALIKE:] if number in self._pairing.ours]


_PAIRS = re.compile(r"source_target_pairs=\{(?:\{\d+,\d+\},?)*+\}")


@dataclass(frozen=True, slots=True)
class Ring:
    """Permutes of one place around the devices of each group.

    `elements` are those of a shard. They make `count` gathers or reduce-scatters, each of `runs` runs.
    """

    members: Sequence[int]
    groups: Groups
    elements: int
    runs: int | None
    count: int
    text: str


def rings_of(
    xla: Sequence[CollectiveOperand], numbers: Iterable[int], program: CompiledProgram
) -> list[Ring]:
    """The rings of some of the collectives of a program."""
    devices, slices = program.devices, program.slices
    around: dict[str, Groups | None] = {}
    by_place: dict[tuple[Groups, int, int, Hashable], list[int]] = {}
    for number in numbers:
        permute = xla[number]
        if permute.kind != "collective_permute":
            continue
        pairs = _pairs(permute.source.op)
        if pairs not in around:
            cycles = _cycles(pairs)
            around[pairs] = cycles and in_all_slices(cycles, devices // slices, slices)
        if (groups := around[pairs]) is not None:
            location = permute.location
            place = location.file, location.line, location.name_stack
            by_place.setdefault((groups, permute.elements, permute.bits, place), []).append(number)
    rings = []
    for (groups, elements, *_), members in by_place.items():
        size = size_of(groups)
        times = [xla[number].times for number in members]
        known = [runs.high for runs in times if runs is not None]
        # A step before a loop runs as often as the product does.
        runs = min(known) if len(known) == len(times) else None
        sent = sum(known) if runs is not None else 0
        # Of each shard, all other devices need it.
        count = sent // (runs * max(size - 1, 1)) if runs else 0
        if count:
            rings.append(Ring(members, groups, elements, runs, count, _text(xla, members, size)))
    return rings


def _text(xla: Sequence[CollectiveOperand], members: Sequence[int], size: int) -> str:
    where = "in a loop" if any(xla[number].source.loops for number in members) else "in steps"
    return f"a ring of permutes around {size} devices, {where} beside the product"


def _pairs(op: Instruction) -> str:
    match = _PAIRS.search(op.attributes)
    return "" if match is None else match[0]


def _cycles(pairs: str) -> Groups | None:
    """The devices of each cycle of a permutation, if all cycles are as long."""
    after = {int(source): int(target) for source, target in re.findall(r"\{(\d{1,9}),(\d{1,9})\}", pairs)}
    if sorted(after) != sorted(after.values()):
        return None
    cycles, seen = [], set[int]()
    for device in after:
        cycle = []
        while device not in seen:
            seen.add(device)
            cycle.append(device)
            device = after[device]
        cycles += [frozenset(cycle)] if cycle else []
    return frozenset(cycles) if len(set(map(len, cycles))) == 1 else None


# What is between the parts of one collective: elements are cut, joined and padded.
_BETWEEN = (*REARRANGE, "convert", "slice", "dynamic-slice", "pad", "concatenate", "tuple")
_MAX_STEPS = 32
# Padding is less than this part of a size.
_PADDED = 8


@dataclass(frozen=True, slots=True)
class Transfer:
    """What is sent to other slices, and the collectives within each slice before and after it.

    `groups` are all devices that take part, `elements` those of the largest part.
    """

    members: Sequence[int]
    groups: Groups
    elements: int
    runs: int | None
    text: str


class Whole:
    """The collectives of a report of which transfers are parts, by number."""

    def __init__(self, report: Mapping[int, CollectiveOperand]) -> None:
        self._alike: dict[tuple[Groups, int | None], list[tuple[int, int]]] = {}
        for number, collective in report.items():
            runs = None if collective.times is None else collective.times.high
            self._alike.setdefault((collective.groups, runs), []).append((collective.elements, number))
        for sizes in self._alike.values():
            sizes.sort()

    def take(self, transfer: Transfer) -> int | None:
        """The number of the one of the nearest size, which no other transfer is a part of then."""
        sizes, size = self._alike.get((transfer.groups, transfer.runs), []), transfer.elements
        at = bisect_left(sizes, (size, 0))
        nearest = min(sizes[max(at - 1, 0) : at + 1], key=lambda entry: abs(entry[0] - size), default=None)
        # Parts are padded to equal sizes.
        if nearest is None or abs(nearest[0] - size) > size // _PADDED:
            return None
        sizes.remove(nearest)
        return nearest[1]


def transfers_of(
    xla: Sequence[CollectiveOperand], numbers: Iterable[int], by_result: Mapping[HloValue, int]
) -> list[Transfer]:
    """What some of the collectives send to other slices. `by_result` has the number of each result."""
    free, transfers = dict.fromkeys(numbers), []
    by_user = {
        (collective.source.op, collective.source.number): number for number, collective in enumerate(xla)
    }
    for number in free:
        collective = xla[number]
        if collective.source.op.opcode != "send":
            continue
        sides = _before(collective.source.operand, by_result), _after(collective.source.result, by_user)
        before, after = (
            [other for other in dict.fromkeys(side) if other in free and other != number] for side in sides
        )
        after = [other for other in after if other not in before]
        within = next(filter(None, (xla[other].groups for other in (*before, *after))), None)
        groups = None if within is None else joined(within, collective.groups)
        members = [*before, number, *after]
        order = (("after", before), ("before", after))
        named = (
            f", {when} {', '.join(label(xla[part]) for part in parts[:4])}" for when, parts in order if parts
        )
        text = f"{label(collective)} sends to other slices{''.join(named)}"
        transfers.append(
            Transfer(
                members,
                groups or collective.groups,
                max(xla[other].elements for other in members),
                None if collective.times is None else collective.times.high,
                text,
            )
        )
    return transfers


def _before(operand: HloValue, by_result: Mapping[HloValue, int]) -> Iterator[int]:
    """The collectives that make an operand."""
    pending = {operand: None}
    steps = 0
    while pending and (steps := steps + 1) < _MAX_STEPS:
        value, _ = pending.popitem()
        if (number := by_result.get(value)) is not None:
            yield number
        # Permutes align shards that have other sizes.
        if value.op.opcode in _BETWEEN or value.op.opcode.startswith("collective-permute"):
            pending |= dict.fromkeys(value.op.operands[:_MAX_STEPS])


def _after(result: HloValue, by_user: Mapping[tuple[Instruction, int], int]) -> Iterator[int]:
    """The gathers of a result."""
    pending, seen = [result], {result}
    for value in pending:
        for user, number in value.uses[:_MAX_STEPS]:
            following = by_user.get((user, number))
            if following is not None:
                if user.opcode.startswith("all-gather"):
                    yield following
            elif user.opcode in _BETWEEN and HloValue(user) not in seen and len(seen) < _MAX_STEPS:
                seen.add(HloValue(user))
                pending.append(HloValue(user))
