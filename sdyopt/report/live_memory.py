"""Live memory over a program: the peak of the values that are live at once, on one device.

A value lives from its definition to its last use in program order; operands and results of an operation
are both live at it. Every result is a new buffer, so that the peak is an upper bound of what a compiler
needs. An operation with regions adds the peak of its largest region, a call that of the function without
its arguments. Region arguments are the operands and take nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.block import Block, Region
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import lookup_symbol
from sdyopt.ir.value import Value
from sdyopt.report.execution_counts import nested_regions
from sdyopt.report.local_shapes import LocalShapes


@dataclass(slots=True)
class Peak:
    """The largest number of live bytes of a region, the operation where it is, and the values live there.

    `live` holds the values of this region only; `nested` is the peak of a region or call inside `op`.
    """

    bytes: int = 0
    op: Op | None = None
    live: list[Value] = field(default_factory=list)
    nested: Peak | None = None


class LiveMemory:
    """Peaks of the functions of a module. Values of unknown size count as nothing and are counted."""

    def __init__(self, module: Op, shapes: LocalShapes) -> None:
        self._shapes = shapes
        self._of_function: dict[FuncOp, Peak] = {}
        self._being_measured: set[FuncOp] = set()
        self.unknown_values: set[Value] = set()

    def bytes(self, value: Value) -> int:
        """Bytes of a value on one device; 0 if unknown."""
        size = self._shapes.bytes(value)
        if size is None:
            self.unknown_values.add(value)
            return 0
        return size

    def curve(self, function: FuncOp) -> list[tuple[Op, int]]:
        """Live bytes at each operation of a function's first block."""
        found: list[tuple[Op, int]] = []
        if not function.is_declaration:
            self._block(function.entry, list(function.entry.arguments), False, found)
        return found

    def function(self, function: FuncOp, holds_arguments: bool = False) -> Peak:
        """The peak of a function with its arguments, which are held to the end if asked for."""
        if function.is_declaration:
            return Peak()
        if holds_arguments:
            return self._block(function.entry, list(function.entry.arguments), True)
        if function not in self._of_function:
            if function in self._being_measured:
                return Peak()  # recursion
            self._being_measured.add(function)
            self._of_function[function] = self._region(function.body, True)
            self._being_measured.discard(function)
        return self._of_function[function]

    def _region(self, region: Region, counts_arguments: bool) -> Peak:
        peak = Peak()
        for block in region.blocks:
            arguments = list(block.arguments) if counts_arguments else []
            of_block = self._block(block, arguments, False)
            if of_block.bytes > peak.bytes or peak.op is None:
                peak = of_block
        return peak

    def _block(
        self,
        block: Block,
        arguments: Sequence[Value],
        holds_arguments: bool,
        curve: list[tuple[Op, int]] | None = None,
    ) -> Peak:
        ending = self._last_uses(block, set(arguments) if holds_arguments else set())
        live: dict[Value, int] = {value: self.bytes(value) for value in arguments}
        total = sum(live.values())
        peak = Peak(total, block.first, list(live))
        for op in block.ops:
            for result in op.results:
                live[result] = self.bytes(result)
                total += live[result]
            nested = self._nested(op)
            here = total + (nested.bytes if nested is not None else 0)
            if curve is not None:
                curve.append((op, here))
            if here > peak.bytes:
                peak = Peak(here, op, list(live), nested)
            for value in (*ending.get(op, ()), *(result for result in op.results if not result.has_uses)):
                total -= live.pop(value, 0)
        return peak

    def _last_uses(self, block: Block, held: set[Value]) -> dict[Op, list[Value]]:
        """The values of a block by the operation of the block at which they are used last."""
        order = {op: index for index, op in enumerate(block.ops)}
        values: list[Value] = [*block.arguments, *(result for op in block.ops for result in op.results)]
        ending: dict[Op, list[Value]] = {}
        for value in values:
            if value in held:
                continue
            last: Op | None = None
            for user in value.users:
                here = _ancestor_in(user, block)
                if here is not None and (last is None or order[here] > order[last]):
                    last = here
            if last is None and block.first is not None and value in block.arguments:
                last = block.first
            if last is not None:
                ending.setdefault(last, []).append(value)
        return ending

    def _nested(self, op: Op) -> Peak | None:
        if isinstance(op, CallOp):
            callee = lookup_symbol(op, op.callee)
            if not isinstance(callee, FuncOp) or callee.is_declaration:
                return None
            peak = self.function(callee)
            arguments = sum(self.bytes(argument) for argument in callee.entry.arguments)
            return Peak(max(peak.bytes - arguments, 0), peak.op, peak.live, peak.nested)
        peaks = [self._region(region, False) for region in nested_regions(op)]
        return max(peaks, key=lambda peak: peak.bytes, default=None)


def _ancestor_in(op: Op, block: Block) -> Op | None:
    """The operation of a block that is, or contains, an operation."""
    here: Op | None = op
    while here is not None and here.parent is not block:
        here = here.parent_op
    return here
