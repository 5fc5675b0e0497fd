"""The collectives that a machine runs, of those that XLA's partitioner inserts.

The partitioner is the same for all devices. Which compiler does what is in the table of `base/compilers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from math import gcd, prod

from sdyopt.analysis.figures.compiled_products import of_transform
from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.loop_invariants import (
    RELAYOUTS,
    loop_around,
    only_user,
    sum_over_iterations,
)
from sdyopt.analysis.figures.machines import ASSUMED_MACHINE
from sdyopt.analysis.figures.narrow_floats import (
    ALL_REDUCES,
    DEFAULT_WIDTH,
    SUMS,
    is_for_products,
    narrower_beside,
)
from sdyopt.analysis.figures.topology import Topology, built_in_topology
from sdyopt.base.compilers import TPU, CompilerBehavior
from sdyopt.base.dataclasses import NamedTuple, replace
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    CollectiveOp,
    ReduceScatterOp,
)
from sdyopt.mlir.dialects.sdy.mesh import REPLACES
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.shapes import TransposeOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FloatType, RankedTensor, element_of
from sdyopt.mlir.ir.value import OpResult, Value

_BF16 = "sent as bf16, because only products of default precision or conversions use it"
RING = "a ring of permutes beside the product"
# The least and largest number of devices that are a ring for a product. A scatter is along at least half of
# the least.
_LEAST_RING = 8
_LARGEST_RING = 32
# What compilers do with a collective in a loop.
AFTER_LOOPS = "done once, after the loop that sums up its results"
# The size of the parts of a dimension along which something is accumulated, and of the rows of tiles.
_BLOCK = 128
_TILE_ROWS = 8
# The least number of devices of a square over which nothing is reduce-scattered.
_LEAST_SQUARE = 8


class Machine(NamedTuple):
    """What collectives run on: a compiler, and the shape of the devices that are connected, () if unknown.

    `ring`: the least length of a dimension, with elements of 16 bits, with which a product takes longer than
    to send its parts around a ring.
    """

    compiler: str
    shape: tuple[int, ...] = ()
    ring: int = 0

    @property
    def square(self) -> int:
        """The number of all devices of a square or a cube; 0 for another shape, or a small one."""
        is_square = len([size for size in self.shape if size > 1]) > 1 and len(set(self.shape)) == 1
        return prod(self.shape) if is_square and prod(self.shape) >= _LEAST_SQUARE else 0


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
    ring = 0 if topology.compute is None else topology.compute.ring
    return Machine(topology.compiler, topology.shape or () if is_connected else (), ring)


def unknown_machine(compiler: str) -> Machine:
    """A machine with a compiler, of which no more is known."""
    compute = built_in_topology(ASSUMED_MACHINE).compute
    return Machine(compiler, (), 0 if compute is None else compute.ring)


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
    return _behind_loops(op, collective, program) if isinstance(op, ALL_REDUCES) else None


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
    share, text = Fraction(1), AFTER_LOOPS
    if len(widths) == 2 and (program.machine.compiler == TPU or isinstance(op, stablehlo.ReduceScatterOp)):
        share = Fraction(widths[1], widths[0])
    if program.machine.compiler == TPU and isinstance(op, AllReduceOp) and _is_sliced(value, op):
        share, text = share / 2, f"{AFTER_LOOPS}, as a reduce-scatter"
    return replace(
        collective,
        wire_bytes=collective.wire_bytes * share,
        times=program.counts.times(left),
        per_iteration=None if program.counts.times(left) is not None else program.counts.per_iteration(left),
        compiled=text,
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


def _is_sliced(total: Value, summed: AllReduceOp) -> bool:
    """Whether only shards of one dimension of a total are used, along the axes that it is summed up over."""
    user = only_user(total)
    while isinstance(user, RELAYOUTS):
        user = only_user(user.results[0])
    if not isinstance(user, AllSliceOp):
        return False
    sliced = [dim.axes for dim in user.slicing_axes if dim.axes]
    return len(sliced) == 1 and set(sliced[0]) == set(summed.reduction_axes.axes)


def _of_shards(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A sum in a manual computation of whose result only shards of one dimension are used."""
    computation = op.parent_op
    if not isinstance(op, stablehlo.AllReduceOp) or not isinstance(computation, ManualComputationOp):
        return None
    if len(op.results) != 1 or collective.wire_bytes is None or not op.results[0].has_one_use:
        return None
    use = next(iter(op.results[0].uses))
    user = only_user(computation.results[use.index]) if use.owner is computation.block.last else None
    while isinstance(user, TransposeOp):
        user = only_user(user.out)
    if not isinstance(user, AllSliceOp):
        return None
    sliced = [dim.axes for dim in user.slicing_axes if dim.axes]
    if len(sliced) != 1 or {axis.name for axis in sliced[0]} != set(collective.axis_names):
        return None
    text = "a reduce-scatter, because a device keeps a shard of the sum"
    return replace(collective, kind="reduce_scatter", wire_bytes=collective.wire_bytes / 2, compiled=text)


def _as_bf16(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A collective of 32-bit floats that only products of default precision or conversions use."""
    is_scatter = isinstance(op, SUMS) and not isinstance(op, ALL_REDUCES)
    if is_scatter or not collective.wire_bytes or not _is_needed_as_bf16(op):
        return None
    # Sums are computed with 32 bits. Then an all-reduce sends what it has summed up as bf16.
    share = Fraction(3, 4) if isinstance(op, SUMS) else Fraction(1, 2)
    return replace(collective, wire_bytes=collective.wire_bytes * share, compiled=_BF16)


def _is_needed_as_bf16(op: Op) -> bool:
    element = element_of(op.results[0].type) if len(op.results) == 1 else None
    if not isinstance(element, FloatType) or element.width != 2 * DEFAULT_WIDTH:
        return False
    return is_for_products(op.results[0])


def _as_converted(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A collective that sums up nothing, beside a conversion from or to a narrower type."""
    narrow = narrower_beside(op)
    if narrow is None or not collective.wire_bytes:
        return None
    wide = element_of(op.results[0].type)
    assert isinstance(wide, FloatType)
    share, text = Fraction(narrow.width, wide.width), f"sent as {narrow.name}, beside a conversion"
    return replace(collective, wire_bytes=collective.wire_bytes * share, compiled=text)


def _as_ring(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A gather for a product, or a scatter of its result, that is part of the product.

    It takes longer than to send its parts if the dimension is long that is not sent: that of the sum, or of
    the result. A scatter that XLA finds only after it has partitioned the program is not part of it.
    """
    size, devices = collective.group_size, _devices(op)
    if size is None or collective.wire_bytes is None or devices < _LEAST_RING or size > _LARGEST_RING:
        return None
    element = element_of(op.results[0].type)
    if not isinstance(element, FloatType):
        return None
    least = program.machine.ring * element.width // DEFAULT_WIDTH
    if isinstance(op, AllGatherOp):
        product = only_user(op.result)
        if size < _LEAST_RING or not isinstance(product, DotGeneralOp):
            return None
        if not _shares_work(product, op, size == devices):
            return None
        other = product.rhs if product.lhs is op.result else product.lhs
        if _free_elements(product, other) < (program.machine.ring if _BF16 in collective.compiled else least):
            return None
    elif isinstance(op, ReduceScatterOp) and REPLACES not in op.attributes:
        product = op.tensor.defining_op
        if not isinstance(product, DotGeneralOp) or size * 2 < _LEAST_RING or _scattered_dims(op) > 1:
            return None
        if not _contracts_rows(product) or _covered(product, op) != devices:
            return None
        if _summed(product, op) != size or _terms(product) < least or _scatters_shards(op):
            return None
    else:
        return None
    return replace(
        collective,
        wire_bytes=collective.wire_bytes * Fraction(size + 1, size - 1),
        compiled=RING,
    )


def _on_square(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A reduce-scatter over all devices of a square or a cube."""
    square = program.machine.square
    if not isinstance(op, (ReduceScatterOp, stablehlo.ReduceScatterOp)) or not square:
        return None
    if not _is_scattered(collective):
        return None
    if collective.group_size != square or collective.wire_bytes is None:
        return None
    return _all_reduced(
        op, collective, program, "there is no reduce-scatter over all devices of a square or a cube"
    )


def _along_dimensions(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A reduce-scatter of several dimensions."""
    is_along_one = not isinstance(op, ReduceScatterOp) or _scattered_dims(op) == 1
    if is_along_one or collective.wire_bytes is None:
        return None
    return _all_reduced(op, collective, program, "a reduce-scatter is of one dimension")


def _all_reduced(op: Op, collective: Collective, program: MachineProgram, reason: str) -> Collective:
    """An all-reduce in place of a reduce-scatter: each device sums up the whole and takes its shard."""
    assert collective.wire_bytes is not None
    is_bf16 = CompilerBehavior.PRODUCTS_OF_BF16.holds(program.machine.compiler) and _is_needed_as_bf16(op)
    return replace(
        collective,
        kind="all_reduce",
        wire_bytes=collective.wire_bytes * (Fraction(3, 2) if is_bf16 else 2),
        compiled=f"all-reduced: {reason}{'; what it sums up is ' * is_bf16}{_BF16 * is_bf16}",
    )


def _is_scattered(collective: Collective) -> bool:
    """Whether nothing has taken the place of a reduce-scatter yet."""
    return collective.kind == "reduce_scatter" and RING not in collective.compiled


def _scattered_dims(scatter: ReduceScatterOp) -> int:
    return sum(bool(axes.axes) for axes in scatter.reduce_scatter_axes)


def _in_tiles(op: Op, collective: Collective, program: MachineProgram) -> Collective | None:
    """A reduce-scatter of parts of tiles.

    The two last dimensions are in tiles, in the order that pads less. A shard of the minor one must
    be of whole tiles, else each device sums up the whole and takes its shard.
    """
    if not isinstance(op, ReduceScatterOp) or not collective.wire_bytes or not _is_scattered(collective):
        return None
    element, mesh = element_of(op.result.type), find_mesh(op.out_sharding.mesh_or_ref, op)
    if not isinstance(element, FloatType) or mesh is None or op.out_sharding.rank < 2:
        return None
    sizes = zip(_shape(op.result), op.out_sharding.dims, strict=True)
    shape = tuple([-(-size // dim.sharded_size(mesh)) for size, dim in sizes])
    *_, rows, columns = shape
    is_swapped = _tiles(columns, rows) < _tiles(rows, columns) and not isinstance(
        op.tensor.defining_op, ConvolutionOp
    )
    minor = len(shape) - (2 if is_swapped else 1)
    tile = _BLOCK * max(1, 2 * DEFAULT_WIDTH // element.width)
    if not tuple(op.reduce_scatter_axes)[minor].axes or shape[minor] % tile == 0:
        return None
    return _all_reduced(op, collective, program, f"shards of {shape[minor]} elements are not whole tiles")


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


def _tiles(rows: int, columns: int) -> int:
    """The number of tiles of 32-bit elements that a matrix takes."""
    return -(-rows // _TILE_ROWS) * -(-columns // _BLOCK)


def _shares_work(product: DotGeneralOp, gather: AllGatherOp, is_of_all: bool) -> bool:
    """Whether devices compute different parts of a product with the parts of an operand that they gather.

    The other operand is sharded along the same axes, in dimensions that it has alone. Unless what is gathered
    is summed up, these are all axes of the mesh.
    """
    dims = product.dot_dimension_numbers
    other, shared = product.rhs, (*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions)
    summed = dims.lhs_contracting_dimensions
    if product.lhs is not gather.result:
        other, shared = product.lhs, (*dims.lhs_batching_dimensions, *dims.lhs_contracting_dimensions)
        summed = dims.rhs_contracting_dimensions
    gathered = [dim for dim, axes in enumerate(gather.gathering_axes) if axes.axes]
    sharding = sharding_of(other)
    if len(gathered) != 1 or sharding is None:
        return False
    alone = [axis for dim, entry in enumerate(sharding.dims) if dim not in shared for axis in entry.axes]
    return tuple(alone) == tuple(gather.gathering_axes.axes) and (is_of_all or gathered[0] in summed)


def _free_elements(product: DotGeneralOp, operand: Value) -> int:
    """The elements of an operand in the dimensions that it has alone."""
    dims, shape = product.dot_dimension_numbers, _shape(operand)
    shared = {*dims.lhs_batching_dimensions, *dims.lhs_contracting_dimensions}
    if operand is not product.lhs:
        shared = {*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions}
    return prod(size for dim, size in enumerate(shape) if dim not in shared)


def _terms(product: DotGeneralOp) -> int:
    """The number of terms of the sum that an element of a product is."""
    shape = _shape(product.lhs)
    return prod(shape[dim] for dim in product.dot_dimension_numbers.lhs_contracting_dimensions)


def _scatters_shards(scatter: ReduceScatterOp) -> bool:
    """Whether a dimension is scattered that other axes shard already."""
    sharding = sharding_of(scatter.tensor)
    if sharding is None:
        return False
    pairs = zip(scatter.reduce_scatter_axes, sharding.dims, strict=True)
    return any(axes.axes and dim.axes for axes, dim in pairs)


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


def _shape(value: Value) -> tuple[int, ...]:
    return value.type.shape if isinstance(value.type, RankedTensor) else ()


_CHANGES: tuple[tuple[CompilerBehavior, _Change], ...] = (
    (CompilerBehavior.SUMS_AFTER_LOOPS, _after_loops),
    (CompilerBehavior.SCATTERS_SHARDS, _of_shards),
    (CompilerBehavior.SCATTERS_AFTER_LOOPS, _scatter_after_loops),
    (CompilerBehavior.GATHERS_IN_LOOPS, _in_loop),
    (CompilerBehavior.PRODUCTS_OF_BF16, _as_bf16),
    (CompilerBehavior.CONVERTS_BEFORE_SENDING, _as_converted),
    (CompilerBehavior.COLLECTIVE_PRODUCTS, _as_ring),
    (CompilerBehavior.SCATTERS_DIMENSIONS, _along_dimensions),
    (CompilerBehavior.SCATTERS_TILES, _in_tiles),
    (CompilerBehavior.SCATTERS_ON_LINES, _on_square),
    (CompilerBehavior.SPLIT_SCANS, _of_totals),
    (CompilerBehavior.COMPLEX_PRODUCTS, _of_transform),
    (CompilerBehavior.MERGED_TRANSPOSES, _once),
)
