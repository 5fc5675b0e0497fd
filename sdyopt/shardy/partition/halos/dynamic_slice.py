"""dynamic_slice along sharded dimensions: a sum of slices, with zeros for the elements of other shards.

A slice of 3 elements from 2 on, of 8 on two devices:

    device          0       1
    has          a b c d  e f g h
    has of it     c d 0    0 0 e
    sum           c d e    c d e

Slices are often much smaller than the dimension: a position of a cache, a layer of stacked weights. Then a
sum of slices sends less than a gather of shards.
"""

from __future__ import annotations

from math import prod

from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MulOp, OrOp, SubtractOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp
from sdyopt.mlir.ir.types import I1, I64, ComplexType, FloatType, IntegerType, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import all_reduce
from sdyopt.shardy.partition.halo_registry import Values, begin_body, exchanges_halos
from sdyopt.shardy.partition.index_arithmetic import clamp_index
from sdyopt.shardy.partition.local_builder import ranked, scalar_type, shape_of
from sdyopt.shardy.partition.local_types import Axes, LocalTypes
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, shape_along


@exchanges_halos(DynamicSliceOp)
def exchange_dynamic_slice(op: DynamicSliceOp, context: HaloContext) -> Values:
    """Each device slices its shard, and the parts of the slice are added up."""
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
            wanted = body.binary(SubtractOp, index, _offset(body, dims[dim], sizes[dim]))
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


def _offset(body: ShardedBody, axes: Axes, shard_size: int) -> Value:
    """Where the shard of this device starts."""
    return body.binary(MulOp, body.shard_index(axes), body.index(shard_size))


def _as_i64(body: ShardedBody, index: Value) -> Value:
    return index if ranked(index).element is I64 else body.convert(index, I64)


def _shifted(body: ShardedBody, value: Value, dim: int, shift: Value, size: int) -> Value:
    """`size` elements of a value from position `shift` on; those outside of the value are zero."""
    zero, old_size = body.index(0), shape_of(value)[dim]
    padding = [size if each == dim else 0 for each in range(ranked(value).rank)]
    padded = body.pad(value, body.sum_identity(scalar_type(value)), padding, padding)
    start = clamp_index(body, body.binary(AddOp, shift, body.index(size)), old_size + size)
    starts = [start if each == dim else zero for each in range(ranked(value).rank)]
    return body.dynamic_slice(padded, starts, shape_along(value, dim, size))
