"""The memory figures of a report: peaks, the values that are live there, and what is replicated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import overload

from sdyopt.analysis.figures.call_locations import CallLocations
from sdyopt.analysis.figures.constants import constant_of
from sdyopt.analysis.figures.dead_results import DeadResults
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, entry_functions
from sdyopt.analysis.figures.figures import NEVER, LiveValue, Memory, MemoryPoint
from sdyopt.analysis.figures.live_memory import LiveMemory, Peak
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation, source_location
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, sharding_text
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

# A report has at most this many of the values that are live at the peak, the largest ones.
MAX_LIVE_VALUES = 64


@dataclass(frozen=True, slots=True)
class ValueTexts:
    """Describes the values of a module. `mesh` is its largest mesh."""

    names: Mapping[Value, str]
    printer: AttributePrinter
    shapes: LocalShapes
    mesh: Mesh | None
    calls: CallLocations

    def live_value(self, value: Value, size: int) -> LiveValue:
        """A value that is live at the peak."""
        axis, smaller = self.spare_axis(value, size)
        return LiveValue(
            self.names[value],
            self.printer.type(value.type),
            printed_sharding(self.shapes.sharding(value)),
            size,
            self.replicas(value),
            self.calls.completed(source_location(value.location), _around(value)),
            axis,
            smaller,
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


class _Curve(Sequence[MemoryPoint]):
    """The points of a curve, whose locations are looked up when the first one is read."""

    def __init__(self, points: Sequence[tuple[Op, int]]) -> None:
        self._unread = points
        self._points: list[MemoryPoint] = []

    def __len__(self) -> int:
        return len(self._unread)

    @overload
    def __getitem__(self, index: int) -> MemoryPoint: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[MemoryPoint]: ...
    def __getitem__(self, index: int | slice) -> MemoryPoint | Sequence[MemoryPoint]:
        if not self._points:
            self._points = [MemoryPoint(size, source_location(op.location)) for op, size in self._unread]
        return self._points[index]


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
            found.peak_location = _peak_location(peak, texts.calls)
            sized = _sized(peak, live)
            found.live_at_peak = [
                texts.live_value(value, size) for size, value in sized[:MAX_LIVE_VALUES] if size
            ]
            found.replicated = sum(
                (_replicated_bytes(size, texts.replicas(value)) for size, value in sized), Fraction(0)
            )
            found.curve = _Curve(peak.curve)
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


def _peak_location(peak: Peak, calls: CallLocations) -> SourceLocation:
    while peak.nested is not None and peak.nested.op is not None:
        peak = peak.nested
    return NO_LOCATION if peak.op is None else calls.completed(source_location(peak.op.location), peak.op)


def printed_sharding(sharding: TensorSharding | None) -> str:
    """A sharding as printed; "" for None."""
    return "" if sharding is None else sharding_text(sharding)
