"""Slices and reversals: `slice` and `reverse`."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.stablehlo.shapes import ReverseOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.types import I64, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.device_positions import replica_groups
from sdyopt.shardy.partition.halo_exchange import Padding, exchange, permute, read_dimensions
from sdyopt.shardy.partition.local_builder import scalar_type, shape_of
from sdyopt.shardy.partition.local_context import RESHARD_HELP, LocalContext
from sdyopt.shardy.partition.local_types import Axes, LocalTypes
from sdyopt.shardy.partition.padding import (
    Padded,
    Padder,
    pads,
    unpadded_result_shape,
    unpadded_shape,
    unsupported,
)
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.partition.replication import Dim, both, crosses_shards
from sdyopt.shardy.partition.sharded_body import (
    HaloContext,
    ShardedBody,
    Values,
    begin_body,
    exchanges_halos,
    shape_along,
)


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
