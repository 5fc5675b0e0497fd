"""The memory figures of a report: peaks, the values that are live there, and what is replicated."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from heapq import nsmallest
from itertools import accumulate
from typing import overload

from sdyopt.analysis.figures.buffers import Buffer, DeadResults, aligned
from sdyopt.analysis.figures.execution_counts import (
    ExecutionCounts,
    entry_functions,
    functions_in,
    is_constant,
)
from sdyopt.analysis.figures.figures import (
    ACTIVATION,
    COPY,
    GATHERED,
    GRADIENT,
    INTERMEDIATE,
    NEVER,
    NO_TIMELINE,
    PART,
    RECOMPUTED,
    SAVED,
    TEMPORARY,
    BoundaryValue,
    LiveGroup,
    LiveValue,
    Memory,
    MemoryPoint,
    Timeline,
)
from sdyopt.analysis.figures.fusion import is_fusible
from sdyopt.analysis.figures.inlined_bodies import inlined
from sdyopt.analysis.figures.local_shapes import LocalShapes, bytes_of
from sdyopt.analysis.figures.peak_memory import LiveMemory, Peak, memory_behaviors
from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    NO_LOCATION,
    Phase,
    SourceLocation,
    location_within,
    source_location,
)
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.base.compilers import GPU, TPU
from sdyopt.base.dataclasses import dataclass, replace
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, sharding_text
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import pattern_of

# A report has at most this many of the values that are live at the peak, the largest ones.
MAX_LIVE_VALUES = 64
# At most this many values are followed to find out whether the backward pass uses one.
_MAX_USERS = 64
# What the values of these parts of a step are.
_KINDS = {Phase.BACKWARD: GRADIENT, Phase.REMATERIALIZED: RECOMPUTED}


@dataclass(frozen=True, slots=True)
class ValueTexts:
    """Describes the values of a module. `mesh` is its largest mesh, `located` gives the user's line."""

    names: Mapping[Value, str]
    printer: AttributePrinter
    shapes: LocalShapes
    mesh: Mesh | None
    located: Callable[[SourceLocation, Op | None], SourceLocation]
    origins: TensorOrigins
    manual_devices: Callable[[Op], int | None]

    def live_value(self, value: Value, size: int) -> LiveValue:
        """A value that is live at the peak."""
        axis, smaller = self.spare_axis(value, size)
        role, name = self.origins.role(value)
        return LiveValue(
            self.names[value],
            self.printer.type(value.type),
            printed_sharding(self.shapes.sharding(value)),
            size,
            self.replicas(value),
            self.located(source_location(value.location), _around(value)),
            axis,
            smaller,
            name,
            role,
            self.what(value, role),
        )

    def with_weight(self, live: LiveValue, value: Value) -> LiveValue:
        """The same with the weight that it is the gradient of."""
        weight = self.origins.updated(value) if live.what == GRADIENT else ""
        return replace(live, gradient_of=weight) if weight else live

    def what(self, value: Value, role: str) -> str:
        """What a value of this role is, in the words of a training step."""
        if role == COPY:
            return GATHERED if self.origins.is_gathered(value) else PART
        if role != TEMPORARY:
            return role
        location = self._completed(value, _around(value))
        if location.phase in _KINDS:
            return _KINDS[location.phase]
        if not location.is_differentiated:
            return INTERMEDIATE
        is_saved = any(self._completed(user, user).phase in GRADIENTS for user in _users(value))
        return SAVED if is_saved else ACTIVATION

    def _completed(self, at: Value | Op, op: Op | None) -> SourceLocation:
        if op is None or isinstance(at, BlockArgument):
            return self.located(source_location(at.location), op)
        return self.located(location_within(op), op)

    def boundary_value(
        self, name: str, type: Type, sharding: TensorSharding | None, is_donated: bool = False
    ) -> BoundaryValue:
        """An argument or a result of the program."""
        devices, replicas = 1 if self.mesh is None else self.mesh.total_size, None
        if not self.shapes.is_partitioned:
            replicas = max(devices // self.shapes.shard_count(sharding), 1)
        size = bytes_of(type, self.shapes.shape_of(type, sharding))
        return BoundaryValue(
            name, self.printer.type(type), printed_sharding(sharding), size, replicas, is_donated
        )

    def replicas(self, value: Value) -> int | None:
        """The number of devices that have each shard of a value; None in a partitioned program.

        In a manual computation, devices along the manual axes have other values.
        """
        if self.shapes.is_partitioned:
            return None
        devices = 1 if self.mesh is None else self.mesh.total_size
        around = _around(value)
        if isinstance(value, BlockArgument):
            around = value.block.first
        others = 1 if around is None else self.manual_devices(around) or 1
        return max(devices // self.shapes.shard_count(self.shapes.sharding(value)) // others, 1)

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
        for parent in value.op.ancestors() if isinstance(value, OpResult) else _ancestors(value):
            if isinstance(parent, ManualComputationOp):
                used |= set(parent.manual_axes)
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

    def __init__(
        self,
        points: Sequence[tuple[Op, int]],
        located: Callable[[SourceLocation, Op | None], SourceLocation],
    ) -> None:
        self._unread = points
        self._located = located
        self._points: list[MemoryPoint] = []

    def __len__(self) -> int:
        return len(self._unread)

    @overload
    def __getitem__(self, index: int) -> MemoryPoint: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[MemoryPoint]: ...
    def __getitem__(self, index: int | slice) -> MemoryPoint | Sequence[MemoryPoint]:
        if not self._points:
            self._points = [
                MemoryPoint(size, self._located(source_location(op.location), op))
                for op, size in self._unread
            ]
        return self._points[index]


def memory_figures(
    module: Op,
    shapes: LocalShapes,
    counts: ExecutionCounts,
    texts: ValueTexts | None,
    compiler: str,
    square: int,
    has_manual: bool,
) -> tuple[Memory, Callable[[int], Timeline]]:
    """The memory of the entry function with the highest peak, and the constants that may run.

    `compiler` is that of the machine; "" if it is unknown. Nothing is reduce-scattered over as many devices
    as `square`. Manual computations are inlined, if the module has some, `has_manual`. The second result
    finds what is live at up to a number of points. Without `texts`, there are only sizes.
    """
    program = inlined(module) if has_manual else None
    if program is not None:
        module = program.module
        shapes, counts = LocalShapes(module, shapes.is_partitioned), ExecutionCounts(module)
    dead = DeadResults(module, counts)
    functions = [
        entry_function
        for entry_function in entry_functions(functions_in(module))
        if not entry_function.is_declaration
    ]
    has_peaks = not compiler and texts is not None
    live = LiveMemory(functions, shapes, dead, memory_behaviors(compiler), square, keeps_fusions=has_peaks)
    memory, highest = Memory(), Peak()
    for function in functions:
        peak = live.function(function)
        if peak.bytes >= memory.peak:
            highest = peak
            returned = function.entry.last
            memory.arguments = sum(map(live.bytes, function.entry.arguments))
            assert returned is not None
            memory.results = sum(map(live.bytes, returned.operands))
            memory.peak = peak.bytes
            if texts is None:
                continue
            sized = _sized(peak, live)
            if program is not None:
                program.restore(peak)
                sized = [(size, program.values.get(value, value)) for size, value in sized]
            memory.peak_location = _peak_location(peak, texts.located)
            memory.live_at_peak = [
                texts.with_weight(texts.live_value(value, size), value)
                for size, value in sized[:MAX_LIVE_VALUES]
                if size
            ]
            memory.replicated = sum(
                (_replicated_bytes(size, texts.replicas(value)) for size, value in sized), Fraction(0)
            )
            memory.kinds = _Kinds(sized, texts)
            memory.curve = _Curve(peak.curve, texts.located)
    memory.constants = sum(
        live.bytes(op.results[0])
        for op in module.walk()
        if is_constant(type(op)) and counts.times(op) != NEVER and not dead.contains(op)
    )
    memory.unknown_values = len(live.unknown_values)
    if not compiler:
        memory.by_compiler = _Peaks(memory.peak, functions, live)
    return memory, lambda points: NO_TIMELINE if texts is None else _timeline(highest, live, texts, points)


# At each point of a timeline, so many of the largest groups of values are known.
LIVE_AT_POINT = 12
# A timeline has no more operations than these: functions that many calls share are in it once for each.
_MAX_OPERATIONS = 500_000
# Smaller parts of the peak are counted only.
_SMALLEST_PART = 1_000_000


def _timeline(peak: Peak, live: LiveMemory, texts: ValueTexts, limit: int) -> Timeline:
    """The timeline of a function, with at most `limit` points."""
    ops, buffers = _flattened(peak)
    if not ops:
        return NO_TIMELINE
    size = -(-len(ops) // limit)
    shown = [
        max(range(start, min(start + size, len(ops))), key=lambda index: ops[index][1])
        for start in range(0, len(ops), size)
    ]
    counts = [0] * (len(shown) + 1)
    groups: dict[tuple[str, str, str, SourceLocation, str, str], dict[int, list[int]]] = {}
    for buffer in buffers:
        start, end = bisect_left(shown, buffer.start), bisect_right(shown, buffer.end)
        if not buffer.bytes or start >= end:
            continue
        counts[start] += 1
        counts[end] -= 1
        if buffer.bytes * _SMALLEST_PART > peak.bytes:
            value = texts.live_value(buffer.value, buffer.bytes)
            at = value.location._replace(column=0, name_stack="", frames=(), path="")
            at = at if at.line else NO_LOCATION
            key = pattern_of(value.name), value.type, value.sharding, at, value.role, value.what
            changes = groups.setdefault(key, {})
            for point, sign in ((start, 1), (end, -1)):
                change = changes.setdefault(point, [0, 0])
                change[0] += sign
                change[1] += sign * buffer.bytes
    live_groups = [LiveGroup(*key, _running(changes, len(shown))) for key, changes in groups.items()]
    points = [
        MemoryPoint(total, texts.located(source_location(op.location), op))
        for op, total in (ops[index] for index in shown)
    ]
    return Timeline(points, list(accumulate(counts[:-1])), _largest(live_groups, len(shown)))


def _flattened(peak: Peak) -> tuple[list[tuple[Op, int]], list[Buffer]]:
    """The operations of a block and of what is in them, with the live bytes, and all buffers."""
    ops: list[tuple[Op, int]] = []
    buffers: list[Buffer] = []

    def add(peak: Peak, outside: int) -> None:
        first, last = [], []
        for index, (op, total) in enumerate(peak.curve):
            first.append(len(ops))
            inner = peak.inner.get(index)
            if inner is None or not inner.curve or len(ops) > _MAX_OPERATIONS:
                ops.append((op, outside + total))
            else:
                add(inner, outside + total - inner.bytes)
            last.append(len(ops) - 1)
        buffers.extend(
            Buffer(buffer.value, first[buffer.start], last[buffer.end], buffer.bytes)
            for buffer in peak.buffers
        )

    add(peak, 0)
    return ops, buffers


def _running(changes: dict[int, list[int]], end: int) -> list[tuple[int, int, int]]:
    """The sums of changes up to each point where there are some."""
    running, number, size = [], 0, 0
    for point in sorted(changes):
        number, size = number + changes[point][0], size + changes[point][1]
        if point < end:
            running.append((point, number, size))
    return running


def _largest(groups: Sequence[LiveGroup], end: int) -> list[LiveGroup]:
    """The groups that are among the LIVE_AT_POINT largest ones at a point, the largest first."""
    at_point: list[list[tuple[int, int]]] = [[] for _ in range(end)]
    for number, group in enumerate(groups):
        ends = [point for point, _, _ in group.changes[1:]]
        for (start, _, size), stop in zip(group.changes, [*ends, end], strict=True):
            for point in range(start, stop) if size else ():
                at_point[point].append((-size, number))
    kept = {number for pairs in at_point for _, number in nsmallest(LIVE_AT_POINT, pairs)}
    most = {number: max(size for _, _, size in groups[number].changes) for number in kept}
    return [groups[number] for number in sorted(kept, key=lambda number: (-most[number], number))]


def _sized(peak: Peak, live: LiveMemory) -> list[tuple[int, Value]]:
    """The values that are live at a peak, in regions and callees too, the largest first."""
    sizes: dict[Value, int] = {}
    here: Peak | None = peak
    while here is not None:
        for buffer in here.live:
            size = live.bytes(buffer.value)
            sizes.setdefault(buffer.value, size if aligned(size) == buffer.bytes else buffer.bytes)
        here = here.nested
    return sorted(((size, value) for value, size in sizes.items()), key=lambda entry: -entry[0])


def _users(value: Value) -> Iterator[Op]:
    """The users of a value, of what is computed again from it, and in, behind and around what it goes into.

    A scan carries its outputs, and a shard_map hands on what it saves for its gradient.
    """
    pending, visited = [value], {value}
    while pending and len(visited) < _MAX_USERS:
        for use in pending.pop().uses:
            yield use.owner
            result: Value | None = None
            if isinstance(use.owner, WhileOp):
                result = use.owner.results[use.index]
            elif isinstance(use.owner, ManualComputationOp):
                result = use.owner.block.arguments[use.index]
            elif (
                isinstance(around := use.owner.parent_op, ManualComputationOp)
                and around.block.last is use.owner
            ):
                result = around.results[use.index]
            elif len(use.owner.results) == 1 and is_fusible(use.owner):
                result = use.owner.results[0]
            if result is not None and result not in visited:
                visited.add(result)
                pending.append(result)


class _Peaks(Mapping[str, int]):
    """The peaks with the compilers for TPU and GPU. They are computed when the first one is read."""

    def __init__(self, peak: int, functions: Sequence[FuncOp], live: LiveMemory) -> None:
        self._common, self._functions, self._live = peak, functions, live

    @cached_property
    def _bytes_by_name(self) -> dict[str, int]:
        on_gpu = self._peak(GPU)
        return {TPU: self._peak(TPU), GPU: on_gpu}

    def _peak(self, compiler: str) -> int:
        behaviors = memory_behaviors(compiler)
        if behaviors == memory_behaviors(""):
            return self._common
        live = self._live.with_behaviors(self._functions, behaviors)
        return max([live.function(function).bytes for function in self._functions], default=0)

    def __getitem__(self, compiler: str) -> int:
        return self._bytes_by_name[compiler]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bytes_by_name)

    def __len__(self) -> int:
        return len(self._bytes_by_name)


class _Kinds(Mapping[str, int]):
    """The bytes of each kind of values, the most first. They are computed when the first one is read."""

    def __init__(self, sized: Sequence[tuple[int, Value]], texts: ValueTexts) -> None:
        self._sized, self._texts = sized, texts

    @cached_property
    def _bytes_by_name(self) -> dict[str, int]:
        numbering: dict[str, int] = {}
        for size, value in self._sized:
            if size:
                kind = self._texts.what(value, self._texts.origins.role(value)[0])
                numbering[kind] = numbering.get(kind, 0) + size
        return dict(sorted(numbering.items(), key=lambda entry: -entry[1]))

    def __getitem__(self, kind: str) -> int:
        return self._bytes_by_name[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bytes_by_name)

    def __len__(self) -> int:
        return len(self._bytes_by_name)


def _replicated_bytes(size: int, replicas: int | None) -> Fraction:
    """The bytes of a shard that one device would not need if all with the same shard divided it evenly."""
    return size - Fraction(size, replicas or 1)


def _ancestors(value: Value) -> Iterable[Op]:
    """The operations around a block argument."""
    around = _around(value)
    return () if around is None else (around, *around.ancestors())


def _around(value: Value) -> Op | None:
    """The operation that defines a result, or that encloses the block of an argument."""
    if isinstance(value, OpResult):
        return value.op
    return value.block.parent_op if isinstance(value, BlockArgument) else None


def _peak_location(
    peak: Peak, located: Callable[[SourceLocation, Op | None], SourceLocation]
) -> SourceLocation:
    while peak.nested is not None and peak.nested.op is not None:
        peak = peak.nested
    return NO_LOCATION if peak.op is None else located(source_location(peak.op.location), peak.op)


def printed_sharding(sharding: TensorSharding | None) -> str:
    """A sharding as printed; "" for None."""
    return "" if sharding is None else sharding_text(sharding)
