"""Contractions, reductions, sorts and windows: `dot`, `reduce`, `sort`, `reduce_window` and their kin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.compare_select import CompareOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.reducer import WindowDimension, checked_window, padding_pairs
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.mlir.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import dense_array, element_size
from sdyopt.mlir.ir.floats import Specials, nan_bits
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, FloatType, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import COUNTS_EACH, binary_body, identity_of, is_identity
from sdyopt.shardy.partition.halo_exchange import (
    Padding,
    ReadDimension,
    Reads,
    all_gather,
    crop,
    element_index,
    exchange,
    padding_of,
    plan_halo,
    read_dimensions,
)
from sdyopt.shardy.partition.local_builder import dense_integers, scalar_type, shape_of
from sdyopt.shardy.partition.local_context import (
    LocalContext,
    LocalTypes,
    Lowered,
    first_shard_table,
    lowering,
)
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape
from sdyopt.shardy.partition.partial_results import check_is_combined, is_combined_by_none
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards
from sdyopt.shardy.partition.sharded_body import (
    HaloContext,
    ShardedBody,
    Values,
    attributes_of,
    begin_body,
    exchanges_halos,
)
from sdyopt.shardy.partition.windows import (
    check_windows_stay,
    exchange_totals,
    extend_all,
    local_result_type,
    scan_of,
    window_attributes,
    window_crosses,
    windows_of,
)
from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import reduction_kind


@lowering(DotOp)
def lower_dot(op: DotOp, local: LocalContext) -> Lowered:
    """Checks that partial sums are combined."""
    lhs = op.signature[DotOp.lhs]
    _check_contraction(op, op.lhs, [lhs.rank - 1], "dot", local)
    return None


@lowering(DotGeneralOp)
def lower_dot_general(op: DotGeneralOp, local: LocalContext) -> Lowered:
    """Checks that partial sums are combined."""
    contracting = list(op.dot_dimension_numbers.lhs_contracting_dimensions)
    _check_contraction(op, op.lhs, contracting, "dot_general", local)
    return None


def _check_contraction(op: Op, lhs: Value, contracting: list[int], name: str, local: LocalContext) -> None:
    axes_per_dim = local.axes_per_dim(lhs)
    type = op.signature.operand_types[0]
    assert isinstance(type, RankedTensor)
    axes = [axis for dim in contracting for axis in axes_per_dim[dim]]
    if not axes:
        return
    check_is_combined(
        op,
        axes,
        local.common_mesh(op),
        local,
        f"Expected sharded contracting {name} to have one user and the user is an sdy.all_reduce.",
        f"The axes of the sdy.all_reduce should match the sharded contracting dimensions of the {name}.",
    )


@lowering(ReduceOp)
def lower_reduce(op: ReduceOp, local: LocalContext) -> Lowered:
    """Initial values that may count only once, as in a sum, count on the first device of each group only.

    On the others, the identity takes their place. Nothing changes if they are the identity, as they usually
    are.
    """
    axes_per_dim = local.axes_per_dim(op.inputs[0])
    axes = tuple([axis for dim in op.dimensions for axis in axes_per_dim[dim]])
    if not axes:
        return None
    is_combined_by_none(op, axes, local.common_mesh(op), local)
    inits = list(op.init_values)
    for index, init in enumerate(inits):
        combiner, element = binary_body(op.body, index), ranked(init).element
        if combiner not in COUNTS_EACH or is_identity(combiner, init):
            continue
        identity = identity_of(combiner, element)
        assert identity is not None
        builder, mesh = local.builder(op), local.common_mesh(op)
        is_first = builder.reshape(local.lookup(builder, first_shard_table(axes, mesh, op), I1), ())
        inits[index] = builder.select(is_first, init, builder.splat(tensor((), element), identity))
    if inits != list(op.init_values):
        local.rewriter.set_operands(op, [*op.inputs, *inits])
    return None


@crosses_shards(SortOp)
def sort(op: SortOp, types: LocalTypes) -> Iterator[Dim]:
    """The sorted dimension. The sharding rule has a factor for it only if it counts from the start."""
    yield from by_rule(op, types)
    rank = ranked(op.results[0]).rank
    for number in range(len(op.operands) + len(op.results)):
        yield Dim(number, op.dimension % rank)


def exchange_partial_results(op: ReduceOp, context: HaloContext) -> Values:
    """Gathers the partial results of a reduction of several values, such as an argmax, and reduces them.

    None if its dimensions are not sharded, or if all-reduces combine the results.
    """
    axes_per_dim = context.types.axes_per_dim(op.inputs[0])
    axes = tuple([axis for dim in op.dimensions for axis in axes_per_dim[dim]])
    if len(op.results) == 1 or not axes or reduction_kind(op) is not None:
        return None
    body = begin_body(op, context)
    if body is None:
        return None
    inits = [body.shard_of(init) for init in op.init_values]
    fillers = []
    for index, (init, shard) in enumerate(zip(op.init_values, inits, strict=True)):
        combiner, element = binary_body(op.body, index), ranked(init).element
        identity = identity_of(combiner, element) if combiner in COUNTS_EACH else None
        fillers.append(shard if identity is None else body.splat(tensor((), element), identity))
    shards = [body.shard_of(input, init) for input, init in zip(op.inputs, op.init_values, strict=True)]
    rows = []
    for result in _reduced(body, op, shards, fillers, op.dimensions):
        row = body.reshape(result, (1, *shape_of(result)))
        rows.append(all_gather(body, row, 0, axes))
    return body.finish(_reduced(body, op, rows, inits, [0]))


def _reduced(
    body: ShardedBody, op: ReduceOp, values: Sequence[Value], inits: Sequence[Value], dims: Sequence[int]
) -> Sequence[Value]:
    """Values reduced along some dimensions, as an operation does."""
    region = Region()
    body.rewriter.copy_region(op.body, region)
    shape = [size for dim, size in enumerate(shape_of(values[0])) if dim not in dims]
    types = [tensor(tuple(shape), ranked(value).element) for value in values]
    return body.create(
        ReduceOp, [*values, *inits], types, {"dimensions": dense_array(I64, dims)}, [region]
    ).results


@pads(DotGeneralOp)
def pad_dot_general(op: DotGeneralOp, padder: Padder) -> Padded:
    """Fills both paddings with zeros: zero times undefined padding in the other operand could be NaN."""
    dims = op.dot_dimension_numbers
    lhs = padder.mask_with_zero(op, op.lhs, unpadded_shape(op, 0), dims.lhs_contracting_dimensions)
    rhs = padder.mask_with_zero(op, op.rhs, unpadded_shape(op, 1), dims.rhs_contracting_dimensions)
    _set_operands(op, [lhs, rhs], padder)
    return None


@pads(DotOp)
def pad_dot(op: DotOp, padder: Padder) -> Padded:
    """As for dot_general: the last dimension of the left operand and the first of the right one."""
    lhs = padder.mask_with_zero(op, op.lhs, unpadded_shape(op, 0), [len(unpadded_shape(op, 0)) - 1])
    _set_operands(op, [lhs, padder.mask_with_zero(op, op.rhs, unpadded_shape(op, 1), [0])], padder)
    return None


@pads(ReduceOp)
def pad_reduce(op: ReduceOp, padder: Padder) -> Padded:
    """Fills the padding with the identity of the reduction or, if none is known, with the initial value."""
    inputs = []
    for number, (input, init) in enumerate(zip(op.inputs, op.init_values, strict=True)):
        unpadded = unpadded_shape(op, number)
        if any(shape_of(input)[dim] != unpadded[dim] for dim in op.dimensions):
            input = padder.mask(op, input, unpadded, op.dimensions, _filler(op, number, init, padder))
        inputs.append(input)
    _set_operands(op, [*inputs, *op.init_values], padder)
    return None


def _filler(op: ReduceOp, number: int, init: Value, padder: Padder) -> Value:
    combiner, type = binary_body(op.body, number), ranked(init)
    identity = None if combiner is None else identity_of(combiner, type.element)
    if combiner is None or identity is None or is_identity(combiner, init):
        return init
    return padder.builder(op).splat(type, identity)


def _set_operands(op: DotGeneralOp | DotOp | ReduceOp, operands: list[Value], padder: Padder) -> None:
    if operands != op.operands:
        padder.rewriter.set_operands(op, operands)


# Comparisons that are false if one element is NaN.
_ORDERED = ("EQ", "GE", "GT", "LE", "LT")


@lowering(ReduceWindowOp, SelectAndScatterOp)
def lower_window(op: ReduceWindowOp | SelectAndScatterOp, local: LocalContext) -> Lowered:
    """Checks that no window crosses a border between shards."""
    check_windows_stay(op, windows_of(op, local))
    return None


@crosses_shards(ReduceWindowOp, has_windows=True)
def reduce_window(op: ReduceWindowOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions whose windows cross a border between shards."""
    for slid in windows_of(op, types):
        outputs = types.axes_per_dim(op.results[0])
        if window_crosses(slid, types) or slid.axes != outputs[slid.dim]:
            for number in range(len(op.inputs)):
                yield Dim(number, slid.dim)
                yield Dim(2 * len(op.inputs) + number, slid.dim)


@crosses_shards(SelectAndScatterOp)
def select_and_scatter(op: SelectAndScatterOp, types: LocalTypes) -> Iterable[Dim]:
    """The dimensions by the rule: those with windows of more than one element."""
    return by_rule(op, types)


# --- reduce_window --------------------------------------------------------------------------------


@exchanges_halos(ReduceWindowOp)
def exchange_reduce_window(op: ReduceWindowOp, context: HaloContext) -> Values:
    """Elements outside of the whole tensor are the initial value. Cumulative operations exchange totals."""
    padding = padding_pairs(op.signature, op.padding)
    windows = checked_window(
        op.signature,
        op.window_dimensions,
        op.window_strides,
        padding,
        op.base_dilations,
        op.window_dilations,
    )
    types = context.types
    axes = list(types.axes_per_dim(op.inputs[0]))
    if any(list(types.axes_per_dim(value)) != axes for value in (*op.inputs, *op.results)):
        return None
    if (scan := scan_of(op, windows, axes)) is not None:
        return None if context.as_partitioner else exchange_totals(scan, context)
    reads = read_dimensions(op.inputs[0], op.results[0], windows, context)
    body = None if reads is None else begin_body(op, context)
    if reads is None or body is None:
        return None
    inits = [body.shard_of(init) for init in op.init_values]
    inputs = []
    for input, init, inside in zip(op.inputs, op.init_values, inits, strict=True):
        shard = body.shard_of(input, init)
        inputs.append(extend_all(body, shard, reads, padding_of(init, inside)))
    sides = inputs[0][1]
    pairs, dilations = window_attributes([(window.low, window.high) for window in windows], windows, sides)
    attributes = {**attributes_of(op), "padding": pairs, "base_dilations": dilations}
    region = Region()
    body.rewriter.copy_region(op.body, region)
    result_types = [local_result_type(body, result, context.types) for result in op.results]
    operands = [*[value for value, _ in inputs], *inits]
    return body.finish(body.create(ReduceWindowOp, operands, result_types, attributes, [region]).results)


class _Windows(NamedTuple):
    """The windows that each device computes along one dimension.

    They read `operand`, with `high` elements of padding after it, and scatter `source`.
    """

    window: WindowDimension
    shard_size: int
    high: int
    operand: ReadDimension
    source: ReadDimension

    @classmethod
    def along(
        cls,
        dim: int,
        window: WindowDimension,
        sizes: tuple[int, int],
        op: SelectAndScatterOp,
        types: LocalTypes,
    ) -> _Windows | None:
        size, count = sizes
        axes = types.axes_per_dim(op.operand)[dim]
        shards = types.shard_count(axes, op.operand)
        shard_size = -(-size // shards)
        reaching = _reaching_windows(window, shard_size, shards)
        # The last `num_padded` windows reach up to `high` positions beyond the last element.
        high = max(0, (count - 1) * window.stride - window.low + window.size - size)
        num_padded = -(-high // window.stride)
        most = max(end - first for first, end in reaching) + num_padded
        if most <= 0:
            return None
        firsts, sources = [], []
        positions: list[tuple[int, int] | None] = []
        for first, end in reaching:
            is_last = end > count - num_padded
            firsts.append(count - most if num_padded and is_last else first)
            start, stop = max(first, 0), min(end, count)
            span_end = (stop - 1) * window.stride - window.low + window.size
            positions.append(
                (start * window.stride - window.low, min(span_end, size)) if start < stop else None
            )
            # The source of windows outside of the tensor must be zero, so it is read.
            stop = stop if num_padded else end
            sources.append((first, stop) if first < stop else None)
        starts = [first * window.stride - window.low for first in firsts]
        operand = Reads(size, starts, (most - 1) * window.stride + window.size - high, positions)
        source = Reads(count, firsts, most, sources, is_replicated=not types.axes_per_dim(op.source)[dim])
        plans = plan_halo(operand), plan_halo(source)
        if plans[0] is None or plans[1] is None:
            return None
        return cls(
            window,
            shard_size,
            high,
            ReadDimension(dim, axes, operand, plans[0]),
            ReadDimension(dim, axes, source, plans[1]),
        )

    def fill(self, body: ShardedBody, value: Value) -> Value:
        """Fills what is before the first element with NaN."""
        if not self.window.low:
            return value
        read, element = self.operand, ranked(value).element
        assert isinstance(element, FloatType)
        index = element_index(body, value, read.dim, body.per_shard(read.plan.first_elements, read.axes))
        mask = body.compare(index, body.integers(ranked(index), [0]), "LT")
        mask = body.broadcast(mask, tensor(shape_of(value), I1), [read.dim])
        bits = nan_bits(element.format).to_bytes(element_size(element), "little")
        return body.select(mask, body.splat(ranked(value), bits), value)


@exchanges_halos(SelectAndScatterOp)
def exchange_select_and_scatter(op: SelectAndScatterOp, context: HaloContext) -> Values:
    """Every device whose shard a window reaches computes the window, and keeps the part in its shard.

    Elements before the first one are NaN, which an ordered comparison never selects. No such filler exists
    for elements after the last one, so the operation itself must pad there: the last shards compute earlier
    windows too, up to the last one, and keep nothing of them. The scatter must be a sum: then windows before
    the first one, whose source is zero, have no effect.
    """
    windows = _windows(op, context.types) if _is_padded_by_nan(op) else None
    body = None if windows is None else begin_body(op, context)
    if windows is None or body is None:
        return None
    operand, source = body.shard_of(op.operand), body.shard_of(op.source)
    init = body.shard_of(op.init_value)
    zero = Padding(body.zero(scalar_type(operand)), is_zero=True)
    for window in windows:
        operand = exchange(body, operand, window.operand, zero)
        source = exchange(body, source, window.source, zero)
        operand = window.fill(body, operand)
    pairs = list(padding_pairs(op.signature, op.padding)) or [(0, 0)] * ranked(operand).rank
    for window in windows:
        pairs[window.operand.dim] = (0, window.high)
    numbers = [number for pair in pairs for number in pair]
    padding = dense_integers(tensor((len(pairs), 2), I64), numbers)
    regions = [Region(), Region()]
    for region, copy in zip(op.regions, regions, strict=True):
        body.rewriter.copy_region(region, copy)
    attributes = {**attributes_of(op), "padding": padding}
    result: Value = body.create(
        SelectAndScatterOp, [operand, source, init], [operand.type], attributes, regions
    ).result
    for window in windows:
        # The elements of this device's shard. What no window reaches is the initial value.
        positions = window.operand.reads.positions
        starts = [shard * window.shard_size - position for shard, position in enumerate(positions)]
        result = crop(body, result, window.operand, starts, window.shard_size, Padding(init, is_zero=False))
    return body.finish([result])


def _is_padded_by_nan(op: SelectAndScatterOp) -> bool:
    """Whether NaN is never selected before other elements, and sums are scattered."""
    element = ranked(op.operand).element
    block = op.select.blocks[0]
    returned = block.last
    compare = None if returned is None else returned.operand_at(0).defining_op
    if not isinstance(compare, CompareOp) or compare.operands != list(block.arguments):
        return False
    if not isinstance(element, FloatType) or element.format.specials is not Specials.IEEE:
        return False
    return compare.comparison_direction.value in _ORDERED and binary_body(op.scatter, 0) is AddOp


def _windows(op: SelectAndScatterOp, types: LocalTypes) -> list[_Windows] | None:
    """The windows along each sharded dimension; None if tensors are sharded differently."""
    padding = padding_pairs(op.signature, op.padding)
    windows = checked_window(op.signature, op.window_dimensions or (), op.window_strides, padding)
    slid = []
    result_axes, source_axes = types.axes_per_dim(op.out), types.axes_per_dim(op.source)
    for dim, axes in enumerate(types.axes_per_dim(op.operand)):
        if axes != result_axes[dim] or source_axes[dim] not in (axes, ()):
            return None
        if not axes:
            continue
        size, count = shape_of(op.operand)[dim], shape_of(op.source)[dim]
        if not size or not count:
            return None
        if windows[dim].low and any(window.size > 1 for window in windows[:dim]):
            return None  # NaN would come after other elements of a window, and be selected
        along = _Windows.along(dim, windows[dim], (size, count), op, types)
        if along is None:
            return None
        slid.append(along)
    return slid


def _reaching_windows(window: WindowDimension, shard_size: int, shards: int) -> list[tuple[int, int]]:
    """The windows that reach into each shard, from the first to the one after the last."""
    starts = [shard * shard_size + window.low for shard in range(shards)]
    return [
        (-(-(start - window.size + 1) // window.stride), (start + shard_size - 1) // window.stride + 1)
        for start in starts
    ]
