"""Rings of permutes: a gather or a reduce-scatter of which each step is sent beside a part of a product.

    %p1 = collective-permute(%x), source_target_pairs={{0,1},{1,2},{2,0}}      in a loop, or for each step

TPU makes them of a product and the collective of its operand or its result (a collective matmul).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.device_groups import Groups, in_all_slices, size_of
from sdyopt.analysis.hlo_comparison.hlo_graph import Instruction
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
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
        count = sent // (max(runs or 1, 1) * max(size - 1, 1))
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
