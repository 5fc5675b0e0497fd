"""Collectives that compilers send in parts: rings of permutes, and parts within and between slices.

    %p1 = collective-permute(%x), source_target_pairs={{0,1},{1,2},{2,0}}      in a loop, or for each step

TPU makes them of a product and the collective of its operand or its result (a collective matmul).

    %s = reduce-scatter(%x); send(%s), "ALL_REDUCE", {1,2}x{0:7}; %r = all-gather(%recv)     one all-reduce
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from sdyopt.analysis.hlo_comparison.accelerators import joined
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.device_groups import Groups, in_all_slices, size_of
from sdyopt.analysis.hlo_comparison.hlo_graph import REARRANGE, HloValue, Instruction
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.reasons import label
from sdyopt.base.dataclasses import dataclass

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
