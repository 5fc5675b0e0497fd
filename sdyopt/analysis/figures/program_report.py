"""Collects the figures of a module: communication, memory and compute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, cached_property
from math import prod
from operator import itemgetter

from sdyopt.analysis.figures import collective_traffic
from sdyopt.analysis.figures.boundary import boundary_of, carried_state, is_activation_reshard
from sdyopt.analysis.figures.causes import (
    Updates,
    Written,
    cause_of,
    cause_of_local,
    change_of,
    is_repeated_exchange,
    location_of,
    returned_as,
    summed_over,
    written_collectives,
)
from sdyopt.analysis.figures.collective_traffic import (
    TRAFFIC,
    Traffic,
    borders_differ,
    halo_elements,
    normalized_axes,
    padded_size,
)
from sdyopt.analysis.figures.compiled_collectives import compiled, machine_of, unknown_machine
from sdyopt.analysis.figures.compiled_products import (
    computed_shapes,
    fft_operand,
    is_multiplied,
    product_flops,
)
from sdyopt.analysis.figures.execution_counts import (
    NONE_ASSUMED,
    AssumedTrips,
    CallLocations,
    ExecutionCounts,
)
from sdyopt.analysis.figures.figures import (
    Collective,
    Elementwise,
    Kernels,
    KernelSize,
    Product,
    Report,
    RunTimes,
    TimedKernel,
    Undecided,
)
from sdyopt.analysis.figures.flops import FLOPS, elementwise_figures, sizes_of
from sdyopt.analysis.figures.kernels import kernels_of
from sdyopt.analysis.figures.local_shapes import LocalShapes, bytes_of
from sdyopt.analysis.figures.loop_invariants import loop_left
from sdyopt.analysis.figures.manual_devices import ManualDevices, mesh_of_manual
from sdyopt.analysis.figures.memory_figures import ValueTexts, memory_figures, printed_sharding
from sdyopt.analysis.figures.product_collectives import COLLECTIVES, CollectivesAround, independent_products
from sdyopt.analysis.figures.product_kernels import kernel_of_product
from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    NO_LOCATION,
    Phase,
    SourceLocation,
    UserLines,
    location_within,
    operation_text,
    source_location,
)
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.figures.time_estimate import seconds_of_kernel, time_estimate
from sdyopt.analysis.figures.topology import Topology, speeds_text
from sdyopt.base.compilers import GPU, TPU
from sdyopt.base.dataclasses import NamedTuple, replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, handling
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter, plain_type
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import largest_mesh_op
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, RankedTensor, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


def report_on(
    module: Op, topology: Topology | None = None, assumed_trips: AssumedTrips = NONE_ASSUMED
) -> Report:
    """The figures of a module, before or after partitioning, with estimated times for a topology.

    The module is not changed.
    """
    report = report_unless(module, topology, None, assumed_trips)
    assert report is not None
    return report


def report_unless(
    module: Op,
    topology: Topology | None,
    stops: Callable[[Report], bool] | None,
    assumed_trips: AssumedTrips = NONE_ASSUMED,
    *,
    is_described: bool = True,
) -> Report | None:
    """The figures of a module; None if collectives, products and their times are enough to stop.

    Unless it `is_described`, it has only the figures that changes are compared by, and the places of
    collectives: no words, and nothing about single values and products.
    """
    with handling(_ignore):
        collector = _Collector(module, assumed_trips, topology, is_described)
        try:
            return _measured(collector, topology, stops, is_described)
        except OverflowError:
            raise _largest(module).error(
                "figures of the program are too large to estimate its time: they have more than 300 digits"
            ) from None


def _measured(
    collector: _Collector,
    topology: Topology | None,
    stops: Callable[[Report], bool] | None,
    is_described: bool,
) -> Report | None:
    report = collector.report()
    if topology is not None:
        report.topology = topology.name
        report.speeds = speeds_text(topology.on(report.mesh)) if is_described else ""
    if stops is not None:
        if topology is not None:
            report.time = time_estimate(report, topology)
        if stops(report):
            return None
    collector.add_memory(report)
    if topology is not None:
        if topology.kernel is None:
            report.elementwise = collector.elementwise()
        else:
            report.kernels = collector.kernels()
            report.timed_kernels = lambda: collector.timed_kernels(report, topology)
        # Collectives take no other time with the figures of memory.
        known = None if report.time is None else report.time.collectives
        report.time = time_estimate(report, topology, known)
        if report.time.elementwise is not None:
            # Pages draw what a float holds: raises OverflowError.
            float(report.time.elementwise[1])
        report.device_memory = None if topology.memory is None else int(topology.memory)
    return report


def _largest(module: Op) -> Op:
    """The operation with the largest tensor, or a function for an argument; the module if it has none."""
    sized: list[tuple[int, Op]] = []
    for op in module.walk():
        arguments = op.entry.arguments if isinstance(op, FuncOp) and not op.is_declaration else ()
        types = (value.type for value in (*arguments, *op.results))
        sized += [(prod(type.shape), op) for type in types if isinstance(type, RankedTensor)]
    return max(sized, key=itemgetter(0), default=(0, module))[1]


@cache
def _is_counted(kind: type[Op]) -> bool:
    """Whether a report looks at operations of a class."""
    return kind in FLOPS or issubclass(kind, _COUNTED)


_COUNTED: tuple[type[Op], ...] = (*COLLECTIVES, ReshardOp, CustomCallOp, ManualComputationOp, WhileOp)


def _ignore(_: Diagnostic) -> None:
    """Drops the warnings about unknown sharding rules; passes that need these rules emit them, too."""


class _Sent(NamedTuple):
    """The fields of a `Collective` of those names."""

    axes: str
    group: str
    group_size: int | None
    local_operands: tuple[str, ...]
    local_results: tuple[str, ...]
    bytes_in: int | None
    bytes_out: int | None
    wire_bytes: Fraction | None


class _Collector:
    def __init__(
        self, module: Op, assumed_trips: AssumedTrips, topology: Topology | None, is_described: bool
    ) -> None:
        self._module = module
        self._is_described = is_described
        self._topology = topology
        self._compiler = "" if topology is None else topology.compiler
        self._shapes = LocalShapes(module)
        self._counts = ExecutionCounts(module, assumed_trips)
        self._calls = CallLocations(self._counts)
        self._origins = TensorOrigins(self._counts)
        self._lines = UserLines.of_module(module)
        self._manual = ManualDevices(self._counts, self._shapes)
        self._names: Mapping[Value, str] = SsaNames(module).names if is_described else defaultdict(str)
        self._printer = AttributePrinter()
        largest = largest_mesh_op(module)
        self._mesh = None if largest is None else largest.mesh
        self._has_manual = False
        self._traffic: dict[tuple[OpSignature, TensorSharding | None], _Sent] = {}
        self._collectives_around = CollectivesAround()
        # None if no collective is in a backward pass.
        self._updates: Updates | None = None

    @cached_property
    def _written(self) -> Written:
        """The collectives that the program calls, if it has backward ones."""
        return written_collectives(self._module)

    def report(self) -> Report:
        """The figures of collectives and products."""
        report = Report()
        if self._mesh is not None:
            report.devices, report.mesh = self._mesh.total_size, Mesh.assembly.text(self._mesh)
        numbers: dict[Op, int] = {}
        products: list[Op] = []
        exchanged: set[Hashable] = set()
        unreached = self._counts.unreached
        for op in self._module.walk():
            if not _is_counted(type(op)) or (unreached and op.parent_of_type(FuncOp) in unreached):
                continue
            if isinstance(op, COLLECTIVES):
                if is_repeated_exchange(op, exchanged):
                    continue
                numbers[op] = len(numbers)
                report.collectives.append(self._collective(op, numbers[op]))
            elif isinstance(op, ReshardOp):
                report.undecided.append(self._reshard(op))
            elif isinstance(op, CustomCallOp):
                report.undecided += self._replicated_operands(op)
            elif type(op) in FLOPS:
                products.append(op)
            elif isinstance(op, ManualComputationOp):
                self._has_manual = True
            elif isinstance(op, WhileOp) and self._counts.trip_count(op) is None:
                report.unknown_loops.append(self._location(source_location(op.location), op))
        self._add_updates(report, list(numbers))
        self._compile(report, list(numbers))
        report.products = [self._product(op, numbers) for op in products]
        ops = list(numbers)
        report.independent = lambda number: independent_products(ops[number], products)
        return report

    def _add_updates(self, report: Report, ops: Sequence[Op]) -> None:
        """Finds out which collectives of a training step are of its update."""
        if not any(collective.location.phase is Phase.BACKWARD for collective in report.collectives):
            return
        self._updates = Updates()
        report.collectives = [
            replace(collective, location=self._with_phase(collective.location, op))
            for op, collective in zip(ops, report.collectives, strict=True)
        ]

    def _compile(self, report: Report, ops: Sequence[Op]) -> None:
        """Replaces the collectives by those that the compiler runs."""
        pairs = list(zip(ops, report.collectives, strict=True))
        machine = machine_of(self._topology, report.mesh)
        report.compiler = machine.compiler
        report.collectives = compiled(pairs, machine, self._counts)
        if not machine.compiler:
            report.by_compiler = lambda: {
                name: compiled(pairs, unknown_machine(name), self._counts) for name in (TPU, GPU)
            }

    def _with_phase(self, location: SourceLocation, op: Op) -> SourceLocation:
        is_known = location.phase is not Phase.UNKNOWN and not location.is_differentiated
        if self._updates is None or not is_known or op not in self._updates:
            return location
        return location._replace(is_update=True)

    def add_memory(self, report: Report) -> None:
        """Adds the figures of memory and of carried state."""
        values = ValueTexts(
            self._names,
            self._printer,
            self._shapes,
            self._mesh,
            self._location,
            self._origins,
            self._manual.devices,
        )
        report.boundary = lambda: boundary_of(self._module, self._names, values)
        report.carried = list(carried_state(self._module, self._shapes, self._names))
        square = machine_of(self._topology, report.mesh).square
        report.memory, report.timeline = memory_figures(
            self._module,
            self._shapes,
            self._counts,
            values if self._is_described else None,
            report.compiler,
            square,
            self._has_manual,
        )
        report.is_sharded = report.devices == 1 or self._shapes.has_shardings or self._has_manual

    def timed_kernels(self, report: Report, topology: Topology) -> list[TimedKernel]:
        """The kernels of operations that are no products, with their times."""
        timed: list[TimedKernel] = []

        def add(op: Op, size: KernelSize, runs: int) -> None:
            location = self._with_phase(self._location(source_location(op.location), op), op)
            seconds = runs * seconds_of_kernel(size, report, topology)
            timed.append(TimedKernel(operation_text(op), location, runs, seconds))

        kernels_of(self._module, self._shapes, self._counts, self._compiler, add)
        return timed

    def kernels(self) -> Kernels:
        """The kernels of operations that are no products."""
        return kernels_of(self._module, self._shapes, self._counts, self._compiler)

    def elementwise(self) -> Elementwise:
        """The figures of elementwise operations."""
        return elementwise_figures(self._module, self._shapes, self._counts)

    # --- Communication ------------------------------------------------------------------------

    def _collective(self, op: Op, number: int) -> Collective:
        if isinstance(op, CollectiveOp):
            return self._sdy_collective(op, number)
        return self._stablehlo_collective(op, number)

    def _sdy_collective(self, op: CollectiveOp, number: int) -> Collective:
        before = self._shapes.sharding(op.operand_at(0))
        key = op.signature, before
        if key not in self._traffic:
            self._traffic[key] = self._traffic_of(op, before)
        outside = loop_left(op, self._counts) or op
        return Collective(
            number,
            op.signature.name.partition(".")[2],
            "sdy",
            *self._traffic[key],
            self._counts.times(outside),
            self._location(location_of(op, self._origins), op),
            self._names[op.results[0]],
            cause_of(op, self._shapes, self._origins, self._lines) if self._is_described else "",
            change_of(op, self._shapes) if self._is_described else "",
            *self._tensor(op),
            is_activation_reshard(op),
            self._per_iteration(outside),
            self._loop(outside),
            tuple(summed_over(op, self._shapes, self._origins)) if self._is_described else (),
            outside is not op,
        )

    def _traffic_of(self, op: CollectiveOp, before: TensorSharding | None) -> _Sent:
        """What is equal for equal collectives of values with one sharding."""
        operand, result = op.operand_at(0), op.results[0]
        after = op.out_sharding
        before = before or fully_replicated(after.rank, after.mesh_or_ref, True)
        mesh, after_mesh = self._shapes.mesh(before.mesh_or_ref), self._shapes.mesh(after.mesh_or_ref)
        assert mesh is not None and after_mesh is not None  # the verifier rejects unknown meshes
        traffic = TRAFFIC[type(op)](op, before, mesh, after_mesh)
        return _Sent(
            "{" + axis_refs_text(traffic.axes) + "}",
            "{" + axis_refs_text(normalized_axes(traffic.axes, mesh)) + "}",
            traffic.group_size,
            (self._local_type(operand.type, self._shapes.shape_of(operand.type, before)),),
            (self._local_type(result.type, self._shapes.shape(result)),),
            self._shapes.bytes(operand),
            self._shapes.bytes(result),
            self._sent(op, traffic, before, after),
        )

    def _sent(
        self, op: CollectiveOp, traffic: Traffic, before: TensorSharding, after: TensorSharding
    ) -> Fraction | None:
        """Wire bytes of one device, with shards of equal size.

        Where borders between shards differ before and after the collective, halos are exchanged too.
        """
        type, shapes = op.operand_at(0).type, self._shapes
        share_in, share_out = traffic.share_in, traffic.share_out
        if share_in is None or not isinstance(type, RankedShapedType) or DYNAMIC in type.shape:
            ends = shapes.bytes(op.operand_at(0)), shapes.bytes(op.results[0])
            return _wire_bytes(share_in, share_out, *ends)
        counts = [shapes.shards(sharding) for sharding in (before, after)]
        dims = list(zip(type.shape, *counts, strict=True))
        shape = [max(padded_size(size, old), padded_size(size, new)) for size, old, new in dims]
        sizes = [
            bytes_of(type, [size // n for size, n in zip(shape, count, strict=True)]) for count in counts
        ]
        moved = [number for number, dim in enumerate(dims) if borders_differ(*dim)]
        if moved and isinstance(op, ReduceScatterOp):
            share_in *= 2
        sent = _wire_bytes(share_in, share_out, *sizes)
        for dim in moved:
            for local, numbers in zip(sizes, counts, strict=True):
                if sent is not None and local is not None:
                    elements = halo_elements(type.shape[dim], numbers[dim], shape[dim])
                    sent += elements * local / (shape[dim] // numbers[dim])
        return sent

    def _stablehlo_collective(self, op: Op, number: int) -> Collective:
        mesh = self._mesh_around(op)
        traffic = collective_traffic.traffic_of(op, mesh)
        outside = loop_left(op, self._counts) or op
        bytes_in = _sum([self._shapes.bytes(value) for value in op.operands])
        bytes_out = _sum([self._shapes.bytes(value) for value in op.results])
        return Collective(
            number,
            op.signature.name.partition(".")[2],
            "stablehlo",
            traffic.axes,
            traffic.axes,
            traffic.group_size,
            tuple([self._local_type(value.type, self._shapes.shape(value)) for value in op.operands]),
            tuple([self._local_type(value.type, self._shapes.shape(value)) for value in op.results]),
            bytes_in,
            bytes_out,
            _wire_bytes(traffic.share_in, traffic.share_out, bytes_in, bytes_out),
            self._counts.times(outside),
            self._location(location_within(op), op),
            self._names[op.results[0]] if op.results else "",
            cause_of_local(op, self._shapes.is_partitioned, lambda: self._written),
            "",
            *self._tensor(op),
            per_iteration=self._per_iteration(outside),
            loop=self._loop(outside),
            is_hoisted=outside is not op,
        )

    def _tensor(self, op: Op) -> tuple[str, str]:
        """The argument that a collective moves a part of, and the one that its result updates, by name.

        The second is the result of the program that it becomes, if it is no gradient that is updated.
        """
        moved = self._origins.name(op.operand_at(0)) if op.operands else ""
        if moved or not op.results:
            return moved, ""
        if location_within(op).phase not in GRADIENTS:
            return "", returned_as(op)
        return "", self._origins.updated(op.results[0])

    def _loop(self, op: Op) -> SourceLocation | None:
        loop = self._counts.loop(op)
        return None if loop is None else self._location(source_location(loop.location), loop)

    def _location(self, location: SourceLocation, op: Op | None) -> SourceLocation:
        """The line of the user's program for a location of an operation."""
        place = self._lines.chosen(self._calls.completed(location, op))
        return place if op is None else self._with_phase(place, op)

    def _reshard(self, op: ReshardOp) -> Undecided:
        return Undecided(
            "reshard",
            self._printer.type(op.input.type),
            printed_sharding(self._shapes.sharding(op.input)),
            printed_sharding(op.sharding),
            self._location(location_of_reshard(op), op),
            self._names[op.results[0]],
            self._counts.times(op),
        )

    def _replicated_operands(self, op: CustomCallOp) -> Iterator[Undecided]:
        """The sharded operands of a custom call without a sharding rule: each device needs them whole."""
        if sharding_rule_of(op) is not None:
            return
        for operand in op.operands:
            sharding = self._shapes.sharding(operand)
            if sharding is not None and not sharding.is_fully_replicated:
                yield Undecided(
                    f"operand of custom_call @{op.call_target_name}, which has no sharding rule",
                    self._printer.type(operand.type),
                    printed_sharding(sharding),
                    printed_sharding(fully_replicated(sharding.rank, sharding.mesh_or_ref, True)),
                    self._location(source_location(op.location), op),
                    self._names[operand],
                    self._counts.times(op),
                )

    def _mesh_around(self, op: Op) -> Mesh | None:
        """The mesh of the innermost manual computation around an operation, else the largest mesh."""
        for parent in op.ancestors():
            if isinstance(parent, ManualComputationOp) and (mesh := mesh_of_manual(parent, self._shapes)):
                return mesh
        return self._mesh

    def _local_type(self, type: Type, shape: tuple[int, ...] | None) -> str:
        if isinstance(type, RankedTensor) and shape is not None:
            type = RankedTensor(shape, type.element, None)
        return self._printer.type(type)

    # --- Compute ------------------------------------------------------------------------------

    def _product(self, op: Op, numbers: dict[Op, int]) -> Product:
        # The only operand of a Fourier transform stands for both.
        values = [fft_operand(op, self._compiler), op.operands[:2][-1], op.results[0]]
        local, whole = (
            computed_shapes(op, shapes, self._compiler)
            for shapes in (
                [self._shapes.shape(value) for value in values],
                [value.type.shape if isinstance(value.type, RankedShapedType) else None for value in values],
            )
        )
        is_sum = local is not None and is_multiplied(op, *local, self._compiler)
        useful = None if whole is None else 0 if is_sum else product_flops(op, *whole, self._compiler)
        factor = self._manual.devices(op, op.operands)
        useful = None if useful is None or factor is None else useful * factor
        around = self._collectives_around.of(op) if self._is_described else ()
        return Product(
            op.signature.name.partition(".")[2],
            None if local is None else 0 if is_sum else product_flops(op, *local, self._compiler),
            useful,
            self._counts.times(op),
            self._location(source_location(op.location), op) if self._is_described else NO_LOCATION,
            self._names[op.results[0]],
            _sum([self._shapes.bytes(value) for value in (*op.operands[:2], op.results[0])]),
            tuple(sorted(numbers[item] for item in around if item in numbers)),
            self._spare_axes(op, values) if self._is_described else (),
            self._per_iteration(op),
            None if local is None else sizes_of(op, *local),
            op.signature.cached(_element),
            kernel_of_product(op, self._shapes, self._compiler),
        )

    def _per_iteration(self, op: Op) -> RunTimes | None:
        return None if self._counts.times(op) is not None else self._counts.per_iteration(op)

    def _spare_axes(self, op: Op, values: Sequence[Value]) -> tuple[str, ...]:
        """The mesh axes along which no operand or result is sharded and that are not manual around `op`."""
        if self._mesh is None:
            return ()
        used = {
            name
            for parent in op.ancestors()
            if isinstance(parent, ManualComputationOp)
            for name in parent.manual_axes
        }
        for value in values:
            if (sharding := self._shapes.sharding(value)) is not None:
                used |= {axis.name for dim in sharding.dims for axis in dim.axes}
        return tuple(axis.name for axis in self._mesh.axes if axis.size > 1 and axis.name not in used)


def _element(signature: OpSignature) -> str:
    """`bf16` of a product's operands; `f32 HIGHEST` for another than the default precision."""
    type = signature.operand_types[0]
    element = plain_type(type.element) if isinstance(type, RankedShapedType) else ""
    precision = str(signature.attributes.get("precision_config") or "")
    name = "HIGHEST" if "HIGHEST" in precision else "HIGH"
    return f"{element} {name}" if name in precision else element


def location_of_reshard(op: ReshardOp) -> SourceLocation:
    """The location of a reshard or, if it has no line, of the most recent use of its result that has one."""
    location = source_location(op.location)
    users = (source_location(user.location) for user in op.results[0].users)
    return location if location.line else next((user for user in users if user.line), location)


def _wire_bytes(
    share_in: Fraction | None, share_out: Fraction, bytes_in: int | None, bytes_out: int | None
) -> Fraction | None:
    if share_in is None or (share_in and bytes_in is None) or (share_out and bytes_out is None):
        return None
    return share_in * (bytes_in or 0) + share_out * (bytes_out or 0)


def _sum(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
