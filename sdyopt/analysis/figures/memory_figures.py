"""The memory figures of a report: peaks, the values that are live there, and what is replicated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import accumulate

from sdyopt.analysis.figures.dead_results import DeadResults
from sdyopt.analysis.figures.execution_counts import (
    ExecutionCounts,
    constant_of,
    entry_functions,
    nested_regions,
)
from sdyopt.analysis.figures.figures import NEVER, LiveValue, Memory, MemoryPoint
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation, source_location
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, sharding_text
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import DYNAMIC
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

# A report has at most this many of the values that are live at the peak, the largest ones.
MAX_LIVE_VALUES = 64


@dataclass(frozen=True, slots=True)
class ValueTexts:
    """Describes the values of a module. `mesh` is its largest mesh, `located` gives the user's line."""

    names: Mapping[Value, str]
    printer: AttributePrinter
    shapes: LocalShapes
    mesh: Mesh | None
    located: Callable[[SourceLocation, Op | None], SourceLocation]
    origins: TensorOrigins

    def live_value(self, value: Value, size: int) -> LiveValue:
        """A value that is live at the peak."""
        axis, smaller = self.spare_axis(value, size)
        return LiveValue(
            self.names[value],
            self.printer.type(value.type),
            printed_sharding(self.shapes.sharding(value)),
            size,
            self.replicas(value),
            self.located(source_location(value.location), _around(value)),
            axis,
            smaller,
            self.origins.name(value),
        )

    def replicas(self, value: Value) -> int | None:
        """The number of devices that have each shard of a value; None in a partitioned program."""
        if self.shapes.is_partitioned:
            return None
        devices = 1 if self.mesh is None else self.mesh.total_size
        return max(devices // self.shapes.shard_count(self.shapes.sharding(value)), 1)

    def spare_axis(self, value: Value, size: int) -> tuple[str, int | None]:
        """The largest axis along which a value could also be sharded, and its bytes then; "" for none."""
        if self.shapes.is_partitioned:
            return "", None
        sharding = self.shapes.sharding(value)
        mesh = self.mesh if sharding is None else self.shapes.mesh(sharding.mesh_or_ref)
        shape = self.shapes.shape(value)
        if mesh is None or shape is None or DYNAMIC in shape:
            return "", None
        used = set() if sharding is None else {axis.name for dim in sharding.dims for axis in dim.axes}
        spare = [
            axis
            for axis in mesh.axes
            if axis.name not in used and axis.size > 1 and any(dim and dim % axis.size == 0 for dim in shape)
        ]
        if not spare:
            return "", None
        largest = max(spare, key=lambda axis: axis.size)
        return largest.name, -(-size // largest.size)


def memory_figures(module: Op, shapes: LocalShapes, counts: ExecutionCounts, texts: ValueTexts) -> Memory:
    """The memory of the entry function with the highest peak, and the constants that may run."""
    dead = DeadResults(module, counts)
    live = LiveMemory(shapes, dead)
    found = Memory()
    for function in entry_functions([op for op in module.walk() if isinstance(op, FuncOp)]):
        if function.is_declaration:
            continue
        peak = live.function(function)
        if peak.bytes >= found.peak:
            returned = function.entry.last
            found.arguments = sum(map(live.bytes, function.entry.arguments))
            found.results = sum(map(live.bytes, returned.operands)) if returned is not None else 0
            found.peak = peak.bytes
            found.peak_with_arguments = peak.with_arguments
            found.peak_location = _peak_location(peak, texts.located)
            sized = _sized(peak, live)
            found.live_at_peak = [
                texts.live_value(value, size) for size, value in sized[:MAX_LIVE_VALUES] if size
            ]
            found.replicated = sum(
                (_replicated_bytes(size, texts.replicas(value)) for size, value in sized), Fraction(0)
            )
            found.curve = [
                MemoryPoint(size, texts.located(source_location(op.location), op)) for op, size in peak.curve
            ]
    found.constants = sum(
        live.bytes(op.results[0])
        for op in module.walk()
        if constant_of(op) is not None and counts.times(op) != NEVER and not dead.contains(op)
    )
    found.unknown_values = len(live.unknown_values)
    return found


def _sized(peak: Peak, live: LiveMemory) -> list[tuple[int, Value]]:
    """The values that are live at a peak, in regions and callees too, the largest first."""
    values: list[Value] = []
    here: Peak | None = peak
    while here is not None:
        values += here.live
        here = here.nested
    return sorted(((live.bytes(value), value) for value in dict.fromkeys(values)), key=lambda v: -v[0])


def _replicated_bytes(size: int, replicas: int | None) -> Fraction:
    """The bytes of a shard that one device would not need if all with the same shard divided it evenly."""
    return size - Fraction(size, replicas or 1)


def _around(value: Value) -> Op | None:
    """The operation that defines a result, or that encloses the block of an argument."""
    if isinstance(value, OpResult):
        return value.op
    return value.owner.parent_op if isinstance(value, BlockArgument) else None


def _peak_location(
    peak: Peak, located: Callable[[SourceLocation, Op | None], SourceLocation]
) -> SourceLocation:
    while peak.nested is not None and peak.nested.op is not None:
        peak = peak.nested
    return NO_LOCATION if peak.op is None else located(source_location(peak.op.location), peak.op)


def printed_sharding(sharding: TensorSharding | None) -> str:
    """A sharding as printed; "" for None."""
    return "" if sharding is None else sharding_text(sharding)


# Live memory over a program: the peak of the values that are live at once, on one device.
#
# A value is live from its definition to its last use in program order; both operands and results of an
# operation are live at it. Results of functions that no call uses take nothing, nor does what only they
# depend on. Every result is a new buffer, so that the peak is an upper bound of what a compiler needs. At an
# operation with regions that run as parts of the program, the highest peak of these regions is added; at a
# call, that of the callee. The arguments of regions and callees are not counted: they are operands, which are
# live outside.


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
