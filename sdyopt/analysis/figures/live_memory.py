"""Live memory over a program: the peak of the values that are live at once, on one device.

A value is live from its definition to its last use in program order; both operands and results of an
operation are live at it. Results of functions that no call uses take nothing, nor does what only they depend
on. Every result is a new buffer, so that the peak is an upper bound of what a compiler needs. At an operation
with regions that run as parts of the program, the highest peak of these regions is added; at a call, that of
the callee. The arguments of regions and callees are not counted: they are operands, which are live outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from sdyopt.analysis.figures.dead_results import DeadResults
from sdyopt.analysis.figures.execution_counts import nested_regions
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.value import BlockArgument, Value


@dataclass(slots=True)
class Peak:
    """The largest number of live bytes in a block, the operation where that is, and the values live there.

    `live` are the values of this block only; `nested` is the peak in a region or the callee of `op`.
    `with_arguments` is the largest number if the counted arguments stay live to the end, `curve` the number
    at each operation of the block.
    """

    bytes: int = 0
    op: Op | None = None
    live: list[Value] = field(default_factory=list)
    nested: Peak | None = None
    with_arguments: int = 0
    curve: list[tuple[Op, int]] = field(default_factory=list)


class LiveMemory:
    """Peaks of the functions of a module. Values of unknown size count as 0 bytes and are collected."""

    def __init__(self, shapes: LocalShapes, dead: DeadResults) -> None:
        self._shapes = shapes
        self._dead = dead
        self._of_callee: dict[FuncOp, Peak] = {}
        self._being_measured: set[FuncOp] = set()
        self.unknown_values: set[Value] = set()

    def bytes(self, value: Value) -> int:
        """Bytes of a value on one device; 0 if unknown."""
        size = self._shapes.bytes(value)
        if size is None:
            self.unknown_values.add(value)
            return 0
        return size

    def function(self, function: FuncOp) -> Peak:
        """The peak of an entry function, its arguments included."""
        return self._region(function.body, True)

    def _callee(self, function: FuncOp) -> Peak:
        """The peak of a called function without its arguments; an empty one for recursion."""
        if function in self._being_measured:
            return Peak()
        if function not in self._of_callee:
            self._being_measured.add(function)
            self._of_callee[function] = self._region(function.body, False)
            self._being_measured.discard(function)
        return self._of_callee[function]

    def _region(self, region: Region, counts_arguments: bool) -> Peak:
        peaks = [self._block(block, counts_arguments) for block in region.blocks]
        return max(peaks, key=lambda peak: peak.bytes, default=Peak())

    def _block(self, block: Block, counts_arguments: bool) -> Peak:
        ops = [op for op in block.ops if op not in self._dead.ops]
        if not ops:
            return Peak()
        # The bytes that become live at each operation, less those of values last used by the one before it.
        changes, argument_changes = [0] * (len(ops) + 1), [0] * (len(ops) + 1)
        lives = list(_live_ranges(block, ops, counts_arguments, self._dead))
        arguments = 0
        for value, start, end in lives:
            size = self.bytes(value)
            changes[start] += size
            changes[end + 1] -= size
            if isinstance(value, BlockArgument):
                arguments += size
                argument_changes[start] += size
                argument_changes[end + 1] -= size
        nested = [self._nested(op) if op.regions or isinstance(op, CallOp) else None for op in ops]
        inner = [0 if peak is None else peak.bytes for peak in nested]
        totals = [live + more for live, more in zip(accumulate(changes), inner, strict=False)]
        live_arguments = accumulate(argument_changes)
        at = max(range(len(ops)), key=totals.__getitem__)
        return Peak(
            totals[at],
            ops[at],
            [value for value, start, end in lives if start <= at <= end],
            nested[at],
            max(total - live + arguments for total, live in zip(totals, live_arguments, strict=False)),
            list(zip(ops, totals, strict=True)),
        )

    def _nested(self, op: Op) -> Peak | None:
        if isinstance(op, CallOp):
            callee = lookup_symbol(op, op.callee)
            return self._callee(callee) if isinstance(callee, FuncOp) else None
        peaks = [self._region(region, False) for region in nested_regions(op)]
        return max(peaks, key=lambda peak: peak.bytes, default=None)


def _live_ranges(
    block: Block, ops: list[Op], counts_arguments: bool, dead: DeadResults
) -> Iterator[tuple[Value, int, int]]:
    """(value, first, last) for the arguments and results of a block, by positions of `ops`."""
    positions = {op: position for position, op in enumerate(ops)}
    for argument in block.arguments if counts_arguments else ():
        yield argument, 0, _last_use(argument, 0, block, positions)
    for position, op in enumerate(ops):
        for result in op.results:
            if result not in dead.values:
                yield result, position, _last_use(result, position, block, positions)


def _last_use(value: Value, start: int, block: Block, positions: dict[Op, int]) -> int:
    """The position of the last operation that uses a value or contains a use; `start` without uses."""
    last = start
    for user in value.users:
        here: Op | None = user
        while here is not None and here.parent is not block:
            here = here.parent_op
        if here is not None and positions.get(here, 0) > last:
            last = positions[here]
    return last
