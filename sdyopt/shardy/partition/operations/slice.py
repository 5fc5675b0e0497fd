"""Slices and reversals: `slice`, `reverse`, `dynamic_slice` and `dynamic_update_slice`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from math import prod

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, MulOp, OrOp, SubtractOp
from sdyopt.mlir.dialects.stablehlo.reducer import WindowDimension
from sdyopt.mlir.dialects.stablehlo.shapes import ReverseOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, ComplexType, FloatType, IntegerType, RankedTensor, Type, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import Padding, all_reduce, exchange, permute, read_dimensions
from sdyopt.shardy.partition.local_builder import (
    LocalBuilder,
    clamp_index,
    largest_index,
    scalar_type,
    shape_of,
)
from sdyopt.shardy.partition.local_context import (
    RESHARD_HELP,
    Axes,
    LocalContext,
    LocalTypes,
    Lowered,
    lowering,
)
from sdyopt.shardy.partition.padding import (
    Padded,
    Padder,
    pads,
    unpadded_result_shape,
    unpadded_shape,
    unsupported,
)
from sdyopt.shardy.partition.replication import Dim, both, crosses_shards
from sdyopt.shardy.partition.sharded_body import (
    HaloContext,
    ShardedBody,
    Values,
    begin_body,
    exchanges_halos,
    shape_along,
)
from sdyopt.shardy.sharding.axis_lists import replica_groups


@lowering(SliceOp)
def lower_slice(op: SliceOp, local: LocalContext) -> Lowered:
    """A slice is local if it takes sharded dimensions whole, or every n-th element of whole shards."""
    axes_per_dim = local.axes_per_dim(op.operand)
    local.check_same_axes(op, op.operand)
    limits = list(op.limit_indices)
    if not any(axes_per_dim):
        return None
    global_shape, result_shape = op.signature[SliceOp.operand].shape, op.signature[SliceOp.out].shape
    for dim, axes in enumerate(axes_per_dim):
        if not axes:
            continue
        size, stride = shape_of(op.operand)[dim], op.strides[dim]
        # A dimension of size 0 has empty shards.
        shards = global_shape[dim] // size if size else 0
        if shards == 1:
            continue
        takes_all = result_shape[dim] * stride == shards * size
        if op.start_indices[dim] or size % stride or not takes_all:
            raise op.op_error(
                f"dimension {dim} is sharded but the slice is not a full slice and requires device "
                "communication."
            ).help(RESHARD_HELP)
        limits[dim] = size
    return [local.builder(op).slice(op.operand, op.start_indices, limits, op.strides)]


@crosses_shards(SliceOp)
def slice(op: SliceOp, types: LocalTypes) -> Iterator[Dim]:
    """A slice from 0 on may drop the last elements if it only slices each shard."""
    sizes, result_sizes = shape_of(op.operand), shape_of(op.out)
    for dim, axes in enumerate(types.axes_per_dim(op.operand)):
        if axes != types.axes_per_dim(op.out)[dim]:
            yield from both(dim)
            continue
        shards = types.shard_count(axes, op.operand)
        size = -(-sizes[dim] // shards)
        stride = op.strides[dim]
        if op.start_indices[dim] or size % stride or size // stride != -(-result_sizes[dim] // shards):
            yield from both(dim)


@exchanges_halos(SliceOp)
def exchange_slice(op: SliceOp, context: HaloContext) -> Values:
    """A slice reads every n-th element, from its start on."""
    windows = [
        WindowDimension(1, stride, -start) for start, stride in zip(op.start_indices, op.strides, strict=True)
    ]
    # The halos of XLA's partitioner have no gaps, and are the same for all shards.
    from_borders = context.as_partitioner and all(stride == 1 for stride in op.strides)
    reads = read_dimensions(op.operand, op.out, windows, context, from_borders)
    body = None if reads is None else begin_body(op, context)
    if reads is None or body is None:
        return None
    value = body.shard_of(op.operand)
    zero = Padding(body.zero(scalar_type(value)), is_zero=True)
    starts, limits = list(op.start_indices), list(op.limit_indices)
    for read in reads:
        value = exchange(body, value, read, zero)
        starts[read.dim], limits[read.dim] = 0, read.reads.length
    if limits != list(shape_of(value)) or any(starts) or any(stride != 1 for stride in op.strides):
        value = body.slice(value, starts, limits, op.strides)
    return body.finish([value])


@exchanges_halos(ReverseOp)
def exchange_reverse(op: ReverseOp, context: HaloContext) -> Values:
    """Shards are sent to the devices at the other end, and reversed there.

    The padding of the last shards is at the start of the reversed tensor. So the parts of two shards that
    make up one shard of the result are sent separately.
    """
    types = context.types
    axes_per_dim = types.axes_per_dim(op.operand)
    if list(axes_per_dim) != list(types.axes_per_dim(op.out)) or 0 in shape_of(op.operand):
        return None
    body = begin_body(op, context)
    if body is None:
        return None
    value = body.shard_of(op.operand)
    for dim in op.dimensions:
        if axes_per_dim[dim]:
            shards = types.shard_count(axes_per_dim[dim], op.operand)
            value = _mirror(body, value, dim, axes_per_dim[dim], shards, shape_of(op.operand)[dim])
    attributes = {"dimensions": dense_array(I64, op.dimensions)}
    return body.finish([body.create(ReverseOp, [value], [value.type], attributes).result])


def _mirror(body: ShardedBody, value: Value, dim: int, axes: Axes, shards: int, size: int) -> Value:
    """The elements of each shard of the result, not yet reversed.

    With p elements of padding after the last one, shard j of the result has the elements that are p positions
    before those of shard `shards - 1 - j`.
    """
    shard_size = shape_of(value)[dim]
    hops, shift = divmod(shards * shard_size - size, shard_size)
    parts = []
    if shift:
        starts = [0] * len(shape_of(value))
        starts[dim] = shard_size - shift
        tail = body.slice(value, starts, shape_along(value, dim, shard_size))
        parts.append(_send(body, tail, axes, shards, hops + 1))
        value = body.slice(value, [0] * len(starts), shape_along(value, dim, shard_size - shift))
    parts.append(_send(body, value, axes, shards, hops))
    return parts[0] if len(parts) == 1 else body.concatenate(parts, dim)


def _send(body: ShardedBody, value: Value, axes: Axes, shards: int, hops: int) -> Value:
    """Sends the part of shard i to shard `shards - 1 - i - hops`."""
    pairs = [
        (group[source], group[shards - 1 - source - hops])
        for group in replica_groups(axes, body.mesh)
        for source in range(shards - hops)
    ]
    return permute(body, value, pairs) if pairs else value


@pads(SliceOp)
def pad_slice(op: SliceOp, padder: Padder) -> Padded:
    """A slice may include the padding of a dimension that it takes from the start."""
    starts, limits, strides = list(op.start_indices), list(op.limit_indices), op.strides
    padded = padder.padded_type(op.out)
    assert isinstance(padded, RankedTensor)
    for dim, size in enumerate(padded.shape):
        available = shape_of(op.operand)[dim]
        if size == unpadded_result_shape(op)[dim] and available == unpadded_shape(op, 0)[dim]:
            continue
        is_sharded = bool(padder.types.axes_per_dim(op.out)[dim])
        if not is_sharded:
            continue
        limits[dim] = min(starts[dim] + size * strides[dim], available)
        if starts[dim] or -(-limits[dim] // strides[dim]) != size:
            raise unsupported(op, dim)
    padder.rewriter.set_attribute(op, "limit_indices", dense_array(I64, limits))
    return None


@lowering(DynamicSliceOp)
def lower_dynamic_slice(op: DynamicSliceOp, local: LocalContext) -> Lowered:
    """A dynamic slice is local if it takes sharded dimensions whole."""
    _check_whole_dims(op, op.operand, op.slice_sizes, local)
    type = local.local_tensor(op.out, op)
    if Behavior.SHARDED_UPDATES.active and any(local.axes_per_dim(op.operand)):
        return [local.builder(op).dynamic_slice(op.operand, op.start_indices, type.shape)]
    local.rewriter.set_attribute(op, "slice_sizes", dense_array(I64, type.shape))
    return None


@lowering(DynamicUpdateSliceOp)
def lower_dynamic_update_slice(op: DynamicUpdateSliceOp, local: LocalContext) -> Lowered:
    """Updates the part of the updated range that is in the shard of this device.

    Along a dimension that the update covers, the update is sharded like the operand. Along any other sharded
    dimension of the operand, every device has the whole update.
    """
    local.check_same_axes(op, op.operand)
    axes_per_dim = local.axes_per_dim(op.operand)
    sizes = op.signature[DynamicUpdateSliceOp.update].shape
    whole = op.signature[DynamicUpdateSliceOp.operand].shape
    dims = [dim for dim, axes in enumerate(axes_per_dim) if axes and sizes[dim] != whole[dim]]
    if not dims:
        return None
    update_axes = local.axes_per_dim(op.update)
    for dim, (axes, others) in enumerate(zip(axes_per_dim, update_axes, strict=True)):
        if others != (() if dim in dims else axes):
            raise op.op_error(
                f"dimension {dim} of the update is sharded along other axes than the operand"
            ).help(RESHARD_HELP)
    if all(sizes[dim] == 1 for dim in dims) and _selects_updates(op, dims, local):
        return [_select_update(op, dims, local)]
    builder, mesh = local.builder(op), local.common_mesh(op)
    starts = list(op.start_indices)
    for dim in dims:
        last = whole[dim] - sizes[dim]
        start = clamp_index(builder, starts[dim], last)
        offset = local.offset(builder, axes_per_dim[dim], mesh, shape_of(op.operand)[dim])
        starts[dim] = builder.binary(SubtractOp, start, builder.convert(offset, ranked(start).element))
    if all(sizes[dim] == 1 for dim in dims):
        return [_update_element(builder, op, dims, starts)]
    return [_update_range(builder, op, dims, starts)]


def _selects_updates(op: DynamicUpdateSliceOp, dims: Sequence[int], local: LocalContext) -> bool:
    """Whether the whole shard is selected, as in C++; not if a sum of an index and a size may overflow."""
    if not Behavior.SHARDED_UPDATES.active or local.options.update_in_place:
        return False
    whole = op.signature[DynamicUpdateSliceOp.operand].shape
    return all(
        largest_index(ranked(op.start_indices[dim]).element, whole[dim] + 1) == whole[dim] + 1 for dim in dims
    )


def _select_update(op: DynamicUpdateSliceOp, dims: Sequence[int], local: LocalContext) -> Value:
    """Updates the shard, and selects the result if all indices are in the shard."""
    builder, mesh = local.builder(op), local.common_mesh(op)
    whole, axes_per_dim = op.signature[DynamicUpdateSliceOp.operand].shape, local.axes_per_dim(op.operand)
    starts, masks = list(op.start_indices), []
    for dim in dims:
        type, size = ranked(starts[dim]), shape_of(op.operand)[dim]
        zero, last = builder.integers(type, [0]), builder.integers(type, [whole[dim] - 1])
        start = builder.create(ClampOp, [zero, starts[dim], last], [type]).result
        low = builder.convert(local.offset(builder, axes_per_dim[dim], mesh, size), type.element)
        end = builder.binary(AddOp, start, builder.integers(type, [1]))
        high = builder.binary(AddOp, low, builder.integers(type, [size]))
        is_above, is_below = builder.compare(start, low, "GE"), builder.compare(end, high, "LE")
        masks.append(builder.binary(AndOp, is_above, is_below))
        starts[dim] = builder.select(masks[-1], builder.binary(SubtractOp, start, low), zero)
    operands, type = [op.operand, op.update, *starts], ranked(op.operand)
    updated = builder.create(DynamicUpdateSliceOp, operands, [type]).result
    mask = reduce(lambda a, b: builder.binary(AndOp, a, b), masks)
    return builder.select(builder.broadcast(mask, tensor(type.shape, I1)), updated, op.operand)


def _update_element(
    builder: LocalBuilder, op: DynamicUpdateSliceOp, dims: Sequence[int], starts: list[Value]
) -> Value:
    """Writes the old element back if the index is in another shard: reads and writes clamp indices alike."""
    shape, update_shape = shape_of(op.operand), shape_of(op.update)
    mask: Value | None = None
    for dim in dims:
        type = ranked(starts[dim])
        lower = builder.compare(starts[dim], builder.integers(type, [0]), "GE")
        upper = builder.compare(starts[dim], builder.integers(type, [shape[dim] - 1]), "LE")
        in_shard = builder.binary(AndOp, lower, upper)
        mask = in_shard if mask is None else builder.binary(AndOp, mask, in_shard)
    assert mask is not None
    old = builder.dynamic_slice(op.operand, starts, update_shape)
    mask = builder.broadcast(mask, tensor(update_shape, I1))
    update = builder.select(mask, op.update, old)
    return builder.create(DynamicUpdateSliceOp, [op.operand, update, *starts], [op.operand.type]).result


def _update_range(
    builder: LocalBuilder, op: DynamicUpdateSliceOp, dims: Sequence[int], starts: list[Value]
) -> Value:
    """Pads the shard with margins of the update's size, updates it, and removes the margins."""
    shape, update_shape = shape_of(op.operand), shape_of(op.update)
    margins = [update_shape[dim] if dim in dims else 0 for dim in range(len(shape))]
    padding = builder.zero(tensor((), ranked(op.operand).element))
    padded = builder.pad(op.operand, padding, margins, margins)
    for dim in dims:
        type = ranked(starts[dim])
        starts[dim] = builder.binary(AddOp, starts[dim], builder.integers(type, [margins[dim]]))
    updated = builder.create(DynamicUpdateSliceOp, [padded, op.update, *starts], [padded.type]).result
    limits = [margin + size for margin, size in zip(margins, shape, strict=True)]
    return builder.slice(updated, margins, limits)


def _check_whole_dims(op: Op, operand: Value, sizes: Sequence[int], local: LocalContext) -> None:
    whole = op.signature.operand_types[0].shape  # type: ignore[attr-defined]  # verified to be a tensor
    for dim, axes in enumerate(local.axes_per_dim(operand)):
        if axes and sizes[dim] != whole[dim]:
            raise op.op_error(
                f"dimension {dim} is sharded but the slice is not a full slice and requires device "
                "communication."
            ).help(RESHARD_HELP)


@crosses_shards(DynamicUpdateSliceOp)
def dynamic_update_slice(op: DynamicUpdateSliceOp, types: LocalTypes) -> Iterator[Dim]:
    """Every device needs the whole update along dimensions of which the update covers only a part."""
    for dim, (size, update_size) in enumerate(zip(shape_of(op.operand), shape_of(op.update), strict=True)):
        if size != update_size:
            yield Dim(1, dim)


@exchanges_halos(DynamicSliceOp)
def exchange_dynamic_slice(op: DynamicSliceOp, context: HaloContext) -> Values:
    """Each device slices its shard, and the parts of the slice are added up; XLA gathers the operand."""
    if context.as_partitioner:
        return None
    dims = _sharded_dims(op, context.types)
    body = None if dims is None or not _is_summable(ranked(op.operand).element) else begin_body(op, context)
    if dims is None or body is None:
        return None
    shard = body.shard_of(op.operand)
    sizes, starts, shifts = list(shape_of(shard)), [], {}
    for dim, (start, size) in enumerate(zip(op.start_indices, op.slice_sizes, strict=True)):
        whole = shape_of(op.operand)[dim]
        if size == whole:
            starts.append(body.index(0))
            continue
        index = _as_i64(body, clamp_index(body, body.shard_of(start), whole - size))
        if dim in dims:
            # The start of the shard of this device.
            offset = body.binary(MulOp, body.shard_index(dims[dim]), body.index(sizes[dim]))
            wanted = body.binary(SubtractOp, index, offset)
            index = clamp_index(body, wanted, max(0, sizes[dim] - size))
            shifts[dim] = body.binary(SubtractOp, wanted, index)
        starts.append(index)
        sizes[dim] = min(sizes[dim], size)
    value = body.dynamic_slice(shard, starts, sizes)
    for dim, shift in shifts.items():
        value = _shifted(body, value, dim, shift, op.slice_sizes[dim])
    combiner = OrOp if ranked(value).element is I1 else AddOp
    axes = tuple([axis for dim_axes in dims.values() for axis in dim_axes])
    return body.finish([all_reduce(body, value, axes, combiner)])


def _sharded_dims(op: DynamicSliceOp, types: LocalTypes) -> dict[int, Axes] | None:
    """The axes of the sharded dimensions that are sliced; None if a gather is needed, or sends less."""
    dims: dict[int, Axes] = {}
    axes_per_dim, result_axes = types.axes_per_dim(op.operand), types.axes_per_dim(op.results[0])
    for dim, (axes, others) in enumerate(zip(axes_per_dim, result_axes, strict=True)):
        if axes and shape_of(op.operand)[dim] != op.slice_sizes[dim]:
            if others:
                return None
            dims[dim] = axes
        elif axes != others:
            return None
    sizes = [types.shard_size(shape_of(op.operand)[dim], axes, op.operand) for dim, axes in dims.items()]
    shards = prod(types.shard_count(axes, op.operand) for axes in dims.values())
    # Several gathers of the operand are one, which all its slices share.
    slices = max(1, sum(isinstance(use.owner, ReshardOp) for use in op.operand.uses))
    # An all-reduce receives everything twice, but for the part of the device.
    is_smaller = 2 * slices * prod(op.slice_sizes[dim] for dim in dims) < prod(sizes) * shards
    return dims if dims and is_smaller else None


def _is_summable(element: Type) -> bool:
    return isinstance(element, IntegerType | FloatType | ComplexType)


def _as_i64(body: ShardedBody, index: Value) -> Value:
    return index if ranked(index).element is I64 else body.convert(index, I64)


def _shifted(body: ShardedBody, value: Value, dim: int, shift: Value, size: int) -> Value:
    """`size` elements of a value from position `shift` on; those outside of the value are zero."""
    zero, old_size = body.index(0), shape_of(value)[dim]
    padding = [size if other == dim else 0 for other in range(ranked(value).rank)]
    padded = body.pad(value, body.sum_identity(scalar_type(value)), padding, padding)
    start = clamp_index(body, body.binary(AddOp, shift, body.index(size)), old_size + size)
    starts = [start if other == dim else zero for other in range(ranked(value).rank)]
    return body.dynamic_slice(padded, starts, shape_along(value, dim, size))


@pads(DynamicSliceOp)
def pad_dynamic_slice(op: DynamicSliceOp, padder: Padder) -> Padded:
    """A slice of a whole dimension includes its padding."""
    padded = padder.padded_type(op.out)
    assert isinstance(padded, RankedTensor)
    padder.rewriter.set_attribute(op, "slice_sizes", dense_array(I64, padded.shape))
    return None


@pads(DynamicUpdateSliceOp)
def pad_dynamic_update_slice(op: DynamicUpdateSliceOp, padder: Padder) -> Padded:
    """Start indices are clamped as before: the update does not reach into the padding."""
    builder, starts = padder.builder(op), list(op.start_indices)
    sizes = unpadded_shape(op, 1)
    for dim, (size, padded_size) in enumerate(zip(unpadded_shape(op, 0), shape_of(op.operand), strict=True)):
        if size != padded_size and sizes[dim] != size:
            starts[dim] = clamp_index(builder, starts[dim], size - sizes[dim])
    if starts != list(op.start_indices):
        padder.rewriter.set_operands(op, [op.operand, op.update, *starts])
    return None
