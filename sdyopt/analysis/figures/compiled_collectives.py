"""The collectives that a machine runs, of those that XLA's partitioner inserts.

The partitioner is the same for all devices. Which compiler does what is in the table of `base/compilers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from math import gcd, prod

from sdyopt.analysis.figures.compiled_transforms import of_transform
from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.loop_invariants import RELAYOUTS, loop_around, only_user, sum_over_iterations
from sdyopt.analysis.figures.topology import Topology
from sdyopt.base.compilers import TPU, CompilerBehavior
from sdyopt.base.dataclasses import NamedTuple, replace
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.precision import Precision
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.shapes import TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, SliceOp
from sdyopt.mlir.ir.attribute import ArrayAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FloatType, RankedTensor, element_of
from sdyopt.mlir.ir.value import OpResult, Value

_ALL_REDUCES = (AllReduceOp, stablehlo.AllReduceOp, stablehlo.CrossReplicaSumOp)
_SUMS = (*_ALL_REDUCES, ReduceScatterOp, stablehlo.ReduceScatterOp)
_COLLECTIVES = (
    *(CollectiveOp, stablehlo.AllGatherOp, stablehlo.AllReduceOp, stablehlo.AllToAllOp),
    *(stablehlo.CollectivePermuteOp, stablehlo.ReduceScatterOp),
)
_PRODUCTS = (DotGeneralOp, DotOp, ConvolutionOp)
# What computes no new values, but of some elements.
_PARTS = (*RELAYOUTS, SliceOp, DynamicSliceOp)
# The bits of the floats that are sent to products of default precision.
_DEFAULT_WIDTH = 16
# The least number of devices that are a ring for a product; a scatter is along at least half as many.
_LEAST_RING = 8
# The size of the parts of a dimension along which something is accumulated.
_BLOCK = 128
# The least number of devices of a square over which nothing is reduce-scattered.
_LEAST_SQUARE = 8


class Machine(NamedTuple):
    """What collectives run on: a compiler, and the shape of the devices that are connected, () if unknown."""

    compiler: str
    shape: tuple[int, ...] = ()


class MachineProgram(NamedTuple):
    """What a change looks at: the runs of operations, the machine, and what has been gathered so far."""

    counts: ExecutionCounts
    machine: Machine
    gathered: dict[Hashable, Value]


# Changes what is reported of a collective; None if a compiler leaves it as it is.
_Change = Callable[[Op, Collective, MachineProgram], "Collective | None"]


def machine_of(topology: Topology | None, mesh: str) -> Machine:
    """The machine of a topology for a program on a mesh."""
    if topology is None:
        return Machine("")
    topology = topology.on(mesh)
    is_connected = topology.slices == 1 and topology.compiler == TPU
    return Machine(topology.compiler, topology.shape or () if is_connected else ())


def compiled(
    pairs: Iterable[tuple[Op, Collective]], machine: Machine, counts: ExecutionCounts
) -> list[Collective]:
    """The collectives as the compiler of a machine does them; without one, as TPU and GPU both do."""
    changes = [change for behavior, change in _CHANGES if behavior.holds(machine.compiler)]
    program = MachineProgram(counts, machine, {})
    result = []
    for op, collective in pairs:
        for change in changes:
            if (changed := change(op, collective, program)) is not None:
                reasons = filter(None, (collective.compiled, changed.compiled))
                collective = replace(changed, compiled="; ".join(reasons))
        result.append(collective)
    return result


def _after_loops(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """An all-reduce behind the loops in which its results are summed up."""
    return _behind_loops(op, collective, program) if isinstance(op, _ALL_REDUCES) else None


def _scatter_after_loops(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A reduce-scatter behind the loops in which its results are summed up."""
    is_scatter = isinstance(op, stablehlo.ReduceScatterOp)
    return _behind_loops(op, collective, program) if is_scatter else None


def _behind_loops(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    if len(op.results) != 1 or collective.wire_bytes is None:
        return None
    value: Value = op.results[0]
    around: Op = op
    left: WhileOp | None = None
    while (loop := loop_around(around, program.counts, in_branches=False)) is not None:
        total = sum_over_iterations(value, loop)
        if total is None:
            break
        left = around = loop
        value = total
    if left is None:
        return None
    elements = element_of(op.results[0].type), element_of(value.type)
    widths = [element.width for element in elements if isinstance(element, FloatType)]
    return replace(
        collective,
        wire_bytes=collective.wire_bytes * (Fraction(widths[1], widths[0]) if len(widths) == 2 else 1),
        times=program.counts.times(left),
        per_iteration=None if program.counts.times(left) is not None else program.counts.per_iteration(left),
        compiled="done once, after the loop that sums up its results",
    )


def _in_loop(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A gather that others would move out of a loop: its result is larger than its operand."""
    if not collective.is_hoisted or collective.kind != "all_gather":
        return None
    times = program.counts.times(op)
    return replace(
        collective,
        times=times,
        per_iteration=None if times is not None else program.counts.per_iteration(op),
        is_hoisted=False,
        compiled="done in each iteration of the loop, although its operand does not change",
    )


def _as_bf16(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A collective of 32-bit floats whose result only products of default precision use."""
    if collective.wire_bytes is None or not collective.wire_bytes or len(op.results) != 1:
        return None
    element = element_of(op.results[0].type)
    if not isinstance(element, FloatType) or element.width != 2 * _DEFAULT_WIDTH:
        return None
    if not _is_for_products(op.results[0]):
        return None
    # Sums are computed with 32 bits. Then an all-reduce sends what it has summed up as bf16.
    if isinstance(op, _SUMS):
        if not isinstance(op, _ALL_REDUCES):
            return None
        share = Fraction(3, 4)
    else:
        share = Fraction(1, 2)
    return replace(
        collective,
        wire_bytes=collective.wire_bytes * share,
        compiled="sent as bf16, because only products of default precision use it",
    )


def _as_ring(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A gather for a product, or a scatter of its result, that is part of the product."""
    size, devices = collective.group_size, _devices(op)
    if size is None or collective.wire_bytes is None or devices < _LEAST_RING:
        return None
    element = element_of(op.results[0].type)
    if not isinstance(element, FloatType):
        return None
    if element.width != _DEFAULT_WIDTH and not _contracts_several(op):
        return None
    if isinstance(op, AllGatherOp):
        product = only_user(op.results[0])
        if size != devices or not isinstance(product, DotGeneralOp):
            return None
        if product.lhs is not op.results[0] or not _shards(product.rhs):
            return None
    elif isinstance(op, ReduceScatterOp):
        product = op.tensor.defining_op
        if not isinstance(product, DotGeneralOp) or size * 2 < _LEAST_RING:
            return None
        if not _contracts_rows(product) or _covered(product, op) != devices:
            return None
        if _summed(product, op) != size:
            return None
    else:
        return None
    return replace(
        collective,
        wire_bytes=collective.wire_bytes * Fraction(size + 1, size - 1),
        compiled="a ring of permutes beside the product",
    )


def _on_square(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A reduce-scatter over all devices of a square or a cube."""
    shape = program.machine.shape
    is_square = len([size for size in shape if size > 1]) > 1 and len(set(shape)) == 1
    if not isinstance(op, (ReduceScatterOp, stablehlo.ReduceScatterOp)) or not is_square:
        return None
    if collective.group_size != prod(shape) or prod(shape) < _LEAST_SQUARE or collective.wire_bytes is None:
        return None
    return replace(
        collective,
        kind="all_reduce",
        wire_bytes=collective.wire_bytes * 2,
        compiled="all-reduced: there is no reduce-scatter over all devices of a square or a cube",
    )


def _of_totals(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A gather for a cumulative operation."""
    if not isinstance(op, AllGatherOp) or collective.wire_bytes is None:
        return None
    user = only_user(op.results[0])
    sizes = user.window_dimensions if isinstance(user, ReduceWindowOp) else ()
    gathered = [dim for dim, axes in enumerate(op.gathering_axes) if axes.axes]
    shape = _shape(op.results[0])
    if len(gathered) != 1 or len(sizes) != len(shape) or sizes[gathered[0]] != shape[gathered[0]]:
        return None
    # A long dimension is split into blocks, whose totals are gathered. Shards are of whole blocks.
    count = collective.group_size or 1
    shards = gcd(-(-shape[gathered[0]] // _BLOCK), count)
    total = collective.wire_bytes * count / max(count - 1, 1)
    whole = total / shards * (1 - Fraction(shards, count))
    return replace(
        collective,
        wire_bytes=whole + total / shape[gathered[0]] * -(-shape[gathered[0]] // _BLOCK),
        compiled="only totals are gathered" if shards == count else "",
    )


def _of_transform(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A collective for a Fourier transform."""
    return of_transform(op, collective)


def _once(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A gather of a tensor whose transpose has been gathered along the same axes."""
    if not isinstance(op, AllGatherOp) or not collective.wire_bytes:
        return None
    source: Value = op.tensor
    while isinstance(source, OpResult) and isinstance(source.op, RELAYOUTS):
        source = source.op.operand_at(0)
    key = source, op.parent, collective.axes, collective.wire_bytes
    first = program.gathered.setdefault(key, op.tensor)
    if first is op.tensor:
        return None
    return replace(collective, wire_bytes=Fraction(0), compiled="its transpose is gathered already")


def _contracts_several(op: Op) -> bool:
    """Whether a reduce-scatter is of a product over several dimensions, such as a gradient of a weight."""
    product = op.tensor.defining_op if isinstance(op, ReduceScatterOp) else None
    return (
        isinstance(product, DotGeneralOp)
        and len(product.dot_dimension_numbers.lhs_contracting_dimensions) > 1
    )


def _contracts_rows(product: DotGeneralOp) -> bool:
    """Whether a product contracts the last dimension of its left operand, before a transpose, or several."""
    lhs, dims = product.lhs, product.dot_dimension_numbers.lhs_contracting_dimensions
    transpose = lhs.defining_op
    if isinstance(transpose, TransposeOp):
        dims = tuple([transpose.permutation[dim] for dim in dims])
    return dims == (len(_shape(lhs)) - 1,) or len(dims) > 1


def _devices(op: Op) -> int:
    """The number of devices of the mesh of a collective of sdy; 0 for another one."""
    if not isinstance(op, CollectiveOp):
        return 0
    mesh = find_mesh(op.out_sharding.mesh_or_ref, op)
    return 0 if mesh is None else mesh.total_size


def _covered(product: DotGeneralOp, scatter: CollectiveOp) -> int:
    """The number of devices that have different parts of the work of a product whose result is scattered."""
    mesh = find_mesh(scatter.out_sharding.mesh_or_ref, product)
    shardings = filter(None, map(sharding_of, product.operands))
    axes = {axis for sharding in shardings for dim in sharding.dims for axis in dim.axes}
    return 0 if mesh is None else prod(axis.size(mesh) for axis in axes)


def _summed(product: DotGeneralOp, scatter: CollectiveOp) -> int:
    """The number of devices that have parts of a sum of a product."""
    mesh, sharding = find_mesh(scatter.out_sharding.mesh_or_ref, product), sharding_of(product.lhs)
    if mesh is None or sharding is None:
        return 0
    dims = product.dot_dimension_numbers.lhs_contracting_dimensions
    return prod(sharding.dims[dim].sharded_size(mesh) for dim in dims)


def _shards(value: Value) -> bool:
    sharding = sharding_of(value)
    return sharding is not None and not sharding.is_fully_replicated


def _shape(value: Value) -> tuple[int, ...]:
    return value.type.shape if isinstance(value.type, RankedTensor) else ()


def _is_for_products(value: Value) -> bool:
    """Whether only products of default precision use a value, maybe after relayouts and collectives."""
    pending, visited = [value], {value}
    is_used = False
    while pending:
        for use in pending.pop().uses:
            user = use.owner
            if isinstance(user, _PRODUCTS):
                if not _is_of_default_precision(user):
                    return False
                is_used = True
            elif isinstance(user, (*_PARTS, *_COLLECTIVES)) and not use.index and not isinstance(user, _SUMS):
                for result in user.results:
                    if result not in visited:
                        visited.add(result)
                        pending.append(result)
            else:
                return False
    return is_used


def _is_of_default_precision(product: Op) -> bool:
    config = product.signature.attributes.get("precision_config")
    if product.signature.attributes.get("algorithm") is not None:
        return False
    parts = config.elements if isinstance(config, ArrayAttr) else ()
    return all(isinstance(part, Precision) and part.value == "DEFAULT" for part in parts)


_CHANGES: tuple[tuple[CompilerBehavior, _Change], ...] = (
    (CompilerBehavior.SUMS_AFTER_LOOPS, _after_loops),
    (CompilerBehavior.SCATTERS_AFTER_LOOPS, _scatter_after_loops),
    (CompilerBehavior.GATHERS_IN_LOOPS, _in_loop),
    (CompilerBehavior.PRODUCTS_OF_BF16, _as_bf16),
    (CompilerBehavior.COLLECTIVE_PRODUCTS, _as_ring),
    (CompilerBehavior.SCATTERS_ON_LINES, _on_square),
    (CompilerBehavior.SPLIT_SCANS, _of_totals),
    (CompilerBehavior.COMPLEX_PRODUCTS, _of_transform),
    (CompilerBehavior.MERGED_TRANSPOSES, _once),
)
