"""The collectives that compilers for TPU and GPU have in place of those in HLO for the CPU.

The pipeline for the CPU lacks passes that those for TPU and GPU have. They change what is sent:

    %b = all-reduce(%a); %c = dynamic-slice(%b, …)     one reduce-scatter, if each device slices its own part
    %b = all-reduce(%a), groups of x; %c = all-reduce(%b), groups of y     one all-reduce, groups of x and y
    %b = all-gather(%a), channel_id=1; %c = all-gather(%a), channel_id=2     one all-gather
    %c = add(all-reduce(%a), all-reduce(%b))     one all-reduce of the sum
    %b = all-reduce(convert(%a)); %c = convert(%b)     one of 16-bit floats, if %a and %c are
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, Groups, HloSource, bits_of, size_of
from sdyopt.analysis.hlo_comparison.hlo_graph import (
    COLLECTIVES,
    REARRANGE,
    HloValue,
    Instruction,
    uses_of,
    without_rearranging,
)
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.index_values import Values
from sdyopt.base.dataclasses import dataclass, field, replace

SCATTERED, FOLDED, MERGED, SUMMED = "reduce-scatter", "one along both axes", "merged", "one of the sum"
NARROWED = "16-bit floats"
_CHANNEL = re.compile(r", channel_id=\d+")
# What does not change what an instruction computes; it is printed last.
_NOTES = (", frontend_attributes={", ", metadata={", ", backend_config={")
_APPLIED = re.compile(r"\bto_apply=%?([\w.-]+)")
NARROW = ("bf16", "f16")
_ADDS = ("add", "subtract")


@dataclass(frozen=True, slots=True)
class OperandChange:
    """A change of an operand of the program, and the bytes that it saves on the wire, in all runs."""

    number: int
    kind: str
    saved: Fraction


@dataclass(slots=True)
class OnAccelerators:
    """The collectives of TPU and GPU, and how they differ from those of the program.

    `undecided` are all-reduces of which only slices are used, at offsets that are unknown.
    """

    operands: list[CollectiveOperand] = field(default_factory=list)
    changes: list[OperandChange] = field(default_factory=list)
    undecided: list[CollectiveOperand] = field(default_factory=list)


def on_accelerators(program: CompiledProgram) -> OnAccelerators:
    """The operands of a program as TPU and GPU would send them, those that are gone left out.

    The uses in the graph of the program become those of equal values.
    """
    return _Reading(program).result()


def narrow_type(operand: CollectiveOperand) -> str:
    """The type of 16-bit floats that the CPU sends as `f32`, and that the program computes with; else ""."""
    source = operand.source
    if not source.type.startswith("f32["):
        return ""
    name = narrow_operand(source)
    if not name:
        return ""
    uses = list(uses_of(source.result))
    converts_back = bool(uses) and all(
        user.opcode == "convert" and user.type.startswith(f"{name}[") for user, _ in uses
    )
    return name if converts_back or "_promoted" in source.op.attributes else ""


def narrow_operand(source: HloSource) -> str:
    """The type of 16-bit floats that an operand is converted from; "" if it is not."""
    # An all-to-all may have an operand for each device.
    operands = source.op.operands if source.count == 1 else [source.operand]
    names = set(map(_narrow_source, operands))
    return names.pop() if len(names) == 1 else ""


def _narrow_source(value: HloValue) -> str:
    value = without_rearranging(value, ("slice",))
    if value.op.opcode != "convert" or not value.op.operands:
        return ""
    narrow = value.op.operands[0]
    return next((type for type in NARROW if narrow.op.type.startswith(f"{type}[")), "")


class _Reading:
    def __init__(self, program: CompiledProgram) -> None:
        self._program = program
        self._now: list[CollectiveOperand | None] = list(program.operands)
        self._outcome = OnAccelerators()
        self._of: dict[HloValue, int] = {
            operand.source.result: number for number, operand in enumerate(program.operands)
        }
        # The operands that are reductions of their own, by number.
        self._slices: dict[int, HloValue] = {}

    def result(self) -> OnAccelerators:
        program = self._program
        for number, operand in enumerate(program.operands):
            if narrow := narrow_type(operand):
                self._change(number, NARROWED, replace(operand, bits=bits_of(narrow), sent=None))
        by_computation: dict[str, list[int]] = {}
        for number, operand in enumerate(program.operands):
            by_computation.setdefault(operand.source.computation, []).append(number)
        for name, numbers in by_computation.items():
            self._read(program.graph.computations[name].ops, numbers)
        self._outcome.operands = [operand for operand in self._now if operand is not None]
        return self._outcome

    def _read(self, ops: Sequence[Instruction], numbers: Sequence[int]) -> None:
        self._merge(ops)
        reductions = [number for number in numbers if self._is(number, "all_reduce")]
        for number in reductions:
            self._fold(number)
        kept = [number for number in reductions if self._now[number] is not None]
        self._sum(ops, {number: self._program.operands[number].source.result for number in kept})
        parts = {}
        for number in kept:
            operand = self._now[number]
            part = None if operand is None else self._own_part(operand)
            if operand is not None and part is not None:
                parts[number] = part
                self._change(number, SCATTERED, replace(operand, kind="reduce_scatter"))
            elif operand is not None and has_unknown_slices(self._program, operand):
                self._outcome.undecided.append(operand)
        self._sum(ops, parts)

    def _is(self, number: int, kind: str) -> bool:
        operand = self._now[number]
        return operand is not None and operand.kind == kind

    def _change(self, number: int, kind: str, after: CollectiveOperand | None) -> None:
        before = self._now[number]
        assert before is not None
        self._now[number] = after
        saved = before.wire_bytes_of_runs - (Fraction(0) if after is None else after.wire_bytes_of_runs)
        self._outcome.changes.append(OperandChange(number, kind, saved))

    def _merge(self, ops: Sequence[Instruction]) -> None:
        """Removes collectives that are equal to an earlier one of the same operands."""
        first: dict[tuple[object, ...], Instruction] = {}
        of: dict[Instruction, Instruction] = {}
        known: dict[HloValue, dict[tuple[Instruction, int], None]] = {}
        for op in ops:
            if op.opcode not in COLLECTIVES and op.opcode not in REARRANGE:
                continue
            operands = tuple((of.get(value.op, value.op), value.part) for value in op.operands)
            # Attributes without those that do not change what is computed.
            end = min(
                (at for note in _NOTES if (at := op.attributes.find(note)) >= 0), default=len(op.attributes)
            )
            computed = _CHANNEL.sub("", op.attributes[:end])
            same = first.setdefault((op.opcode, op.type, computed, operands), op)
            if same is op or not operands:
                continue
            of[op] = same
            for part, uses in op.uses.items():
                of_same = same.uses.setdefault(part, [])
                seen = known.setdefault(HloValue(same, part), dict.fromkeys(of_same))
                for use in uses:
                    if use not in seen:
                        seen[use] = None
                        of_same.append(use)
                number = self._of.get(HloValue(op, part))
                if number is not None:
                    self._change(number, MERGED, None)

    def _fold(self, number: int) -> None:
        """Makes a reduction of a reduction, which nothing else uses, one along both axes."""
        outer = self._now[number]
        assert outer is not None
        value = outer.source.operand
        steps = ("convert",) if self._is_narrowed(number) else ()
        while value.op.opcode in steps and len(value.uses) == 1:
            value = value.op.operands[0]
        inner = self._of.get(value)
        if inner is None or len(value.uses) != 1 or not self._is(inner, "all_reduce"):
            return
        before = self._now[inner]
        assert before is not None
        if self._is_narrowed(inner) != self._is_narrowed(number):
            return
        groups = joined(before.groups, outer.groups)
        if groups is not None:
            after = replace(outer, groups=groups, sent=None)
            self._now[inner] = None
            self._change(number, FOLDED, after)
            last = self._outcome.changes[-1]
            self._outcome.changes[-1] = replace(last, saved=last.saved + before.wire_bytes_of_runs)

    def _is_narrowed(self, number: int) -> bool:
        operand = self._now[number]
        return operand is not None and operand.bits != self._program.operands[number].bits

    def _sum(self, ops: Sequence[Instruction], results: Mapping[int, HloValue]) -> None:
        """Removes the reductions that another reduction of the same sum could combine, too."""
        for gone, _ in sums_of(self._program, self._now, ops, results):
            if self._now[gone] is not None:
                self._change(gone, SUMMED, None)

    def _own_part(self, operand: CollectiveOperand) -> HloValue | None:
        """A slice of its own that each device of a group takes of a reduction, if nothing else uses it."""
        return own_part(self._program, operand)


def own_part(program: CompiledProgram, operand: CollectiveOperand) -> HloValue | None:
    """A slice of a reduction, if each use is such a one, and the devices of a group take different ones."""
    result, size = None, operand.group_size
    starts: list[Values] | None = None
    # On the CPU, sums of 16-bit floats are converted back first.
    for user, number in uses_of(operand.source.result, ("convert",) if narrow_type(operand) else ()):
        if user.opcode != "dynamic-slice" or number or user.elements * size != operand.elements:
            return None
        taken = []
        for value in user.operands[1:]:
            values = program.indices.of(value)
            if values is None or not values.is_scalar:
                return None
            taken.append(values)
        if starts is not None and taken != starts:
            return None
        starts, result = taken, result or HloValue(user)
    return result if starts and program.take_different(starts, operand.groups) else None


def has_unknown_slices(program: CompiledProgram, operand: CollectiveOperand) -> bool:
    """Whether each use of a reduction is a slice as large as a shard, and the offset of one is unknown."""
    uses = list(uses_of(operand.source.result, ("convert",) if narrow_type(operand) else ()))
    are_slices = all(
        user.opcode == "dynamic-slice"
        and not number
        and user.elements * operand.group_size == operand.elements
        for user, number in uses
    )
    starts = [value for user, _ in uses for value in user.operands[1:]]
    return bool(uses) and are_slices and any(program.indices.of(value) is None for value in starts)


def sums_of(
    program: CompiledProgram,
    operands: Sequence[CollectiveOperand | None],
    ops: Sequence[Instruction],
    results: Mapping[int, HloValue],
    is_any_use: bool = False,
) -> list[tuple[int, int]]:
    """Pairs of reductions whose results, or parts of them, a sum adds up: the second could combine both.

    `results` are the values that sums add, by the number of the reduction. They have no other use, unless
    `is_any_use`.
    """
    sums, parts = [], set(results.values())
    # The reduction that stands for all of those that a value is the sum of.
    terms: dict[HloValue, int] = {}
    for number, value in results.items():
        op = program.operands[number].source.op
        # Of the reductions that do not come from the partitioner, GPU and TPU were not seen to join any.
        is_known = is_any_use or (len(value.uses) == 1 and "to_apply=%add" in op.attributes)
        if is_known and _is_sum(program, op):
            terms[value] = number
    for op in ops:
        value = HloValue(op)
        if op.opcode in (*REARRANGE, "negate", "convert") and op.operands and op.operands[0] in terms:
            term = terms[op.operands[0]]
            # On the CPU, sums of 16-bit floats are converted first.
            is_same = op.opcode != "convert" or is_any_use or bool(narrow_type(program.operands[term]))
            if is_same and (is_any_use or len(value.uses) == 1) and value not in parts:
                terms[value] = term
        elif (
            op.opcode in _ADDS and len(op.operands) == 2 and all(operand in terms for operand in op.operands)
        ):
            first, second = (terms[operand] for operand in op.operands)
            if first != second and _are_alike(program, operands, results, first, second):
                sums.append((second, first))
                if is_any_use or len(value.uses) == 1:
                    terms[value] = first
    return sums


def _is_sum(program: CompiledProgram, op: Instruction) -> bool:
    """Whether a reduction adds."""
    match = _APPLIED.search(op.attributes)
    region = program.graph.computations.get(match[1]) if match else None
    if region is None or region.root is None:
        return False
    return without_rearranging(region.root, ("convert",)).op.opcode == "add"


def _are_alike(
    program: CompiledProgram,
    operands: Sequence[CollectiveOperand | None],
    results: Mapping[int, HloValue],
    first: int,
    second: int,
) -> bool:
    one, other = operands[first], operands[second]
    if one is None or other is None or one.groups != other.groups or one.bits != other.bits:
        return False
    here, there = results[first], results[second]
    # All results are those of the reductions, or all are parts of them.
    if here == one.source.result:
        return one.source.type == other.source.type
    if here.op.type != there.op.type or len(here.op.operands) != len(there.op.operands):
        return False
    indices = program.indices
    return all(
        left == right or ((values := indices.of(left)) is not None and values == indices.of(right))
        for left, right in zip(here.op.operands[1:], there.op.operands[1:], strict=True)
    )


@lru_cache(maxsize=1 << 8)
def joined(first: Groups, second: Groups) -> Groups | None:
    """The groups of devices that two reductions combine; None if some devices would be combined twice."""
    around = {device: group for group in first for device in group}
    deviceses = frozenset(
        frozenset(device for member in group for device in around.get(member, ())) for group in second
    )
    size = size_of(first) * size_of(second)
    covered = sum(map(len, deviceses))
    devices = {device for group in deviceses for device in group}
    is_exact = all(len(group) == size for group in deviceses) and covered == len(devices)
    return deviceses if is_exact else None
