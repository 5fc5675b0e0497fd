"""reshape: shards of other sizes, as of 10 elements on four devices, and of the same elements as 5 x 2.

    device    0       1        2        3
    has       0 1 2   3 4 5    6 7 8    9
    needs     0 … 3   4 … 7    8 9

The dimensions that are split or merged are one dimension, in row-major order, and each device gets what it
needs of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.ir.types import RankedTensor
from sdyopt.ir.value import Value
from sdyopt.partition.halo_exchange import Padding, ReadDimension, exchange
from sdyopt.partition.halo_plan import Reads, plan_halo
from sdyopt.partition.halo_registry import Values, begin_body, exchanges_halos
from sdyopt.partition.local_builder import scalar_type, shape_of
from sdyopt.partition.local_types import Axes, LocalTypes
from sdyopt.partition.reshape_groups import ReshapeGroup, reshape_groups
from sdyopt.partition.sharded_body import HaloContext


@exchanges_halos(ReshapeOp)
def exchange_reshape(op: ReshapeOp, context: HaloContext) -> Values:
    """Groups of dimensions are sharded along their first dimension, by the same axes before and after."""
    operand, result = op.operands[0], op.results[0]
    if 0 in shape_of(operand):
        return None
    groups, reads = list(reshape_groups(op, context.types)), []
    for number, group in enumerate(groups):
        if group.crossing:
            read = _read(number, group, op, context.types)
            if read is None:
                return None
            reads.append(read)
    body = begin_body(op, context) if reads else None
    if body is None:
        return None
    shard = body.shard_of(operand)
    value = body.reshape(
        shard, [prod(shape_of(shard)[dim] for dim in group.operand_dims) for group in groups]
    )
    zero = Padding(body.zero(scalar_type(value)), is_zero=True)
    for read in reads:
        value = exchange(body, value, read, zero)
    sharding = body.sharding(result)
    padded = context.types.padded_type(result.type, sharding)
    local = context.types.local_type(padded, sharding, op)
    assert isinstance(local, RankedTensor)
    return body.finish([body.reshape(value, local.shape)])


def _read(number: int, group: ReshapeGroup, op: ReshapeOp, types: LocalTypes) -> ReadDimension | None:
    """What each device reads of the elements of a group, in row-major order."""
    operand, result = op.operands[0], op.results[0]
    axes = _first_axes(operand, group.operand_dims, types)
    if axes is None or axes != _first_axes(result, group.result_dims, types):
        return None
    shards = types.shard_count(axes, operand)
    size = prod(shape_of(operand)[dim] for dim in group.operand_dims)
    before, after = (
        prod(types.shard_size(shape_of(value)[dim], types.axes_per_dim(value)[dim], value) for dim in dims)
        for value, dims in ((operand, group.operand_dims), (result, group.result_dims))
    )
    starts = [shard * after for shard in range(shards)]
    needed = [(start, min(start + after, size)) if start < size else None for start in starts]
    read = Reads(before * shards, starts, after, needed)
    plan = plan_halo(read)
    return None if plan is None else ReadDimension(number, axes, read, plan)


def _first_axes(value: Value, dims: Sequence[int], types: LocalTypes) -> Axes | None:
    """The axes of the first of some dimensions, without those of size 1; None if others are sharded."""
    axes_per_dim = types.axes_per_dim(value)
    sharded = [dim for dim in dims if axes_per_dim[dim]]
    first = next((dim for dim in dims if shape_of(value)[dim] != 1), None)
    return axes_per_dim[sharded[0]] if sharded == [first] else None
