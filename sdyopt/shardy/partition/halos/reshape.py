"""reshape: shards of other sizes, as of 10 elements on four devices, and of the same elements as 5 x 2.

    device    0       1        2        3
    has       0 1 2   3 4 5    6 7 8    9
    needs     0 … 3   4 … 7    8 9

The dimensions that are split or merged are one dimension, in row-major order, and each device gets what it
needs of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import Padding, ReadDimension, exchange
from sdyopt.shardy.partition.halo_plan import Reads, plan_halo
from sdyopt.shardy.partition.halo_registry import Values, begin_body, exchanges_halos
from sdyopt.shardy.partition.local_builder import scalar_type, shape_of
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.sharded_body import HaloContext
from sdyopt.shardy.partition.sharded_reshapes import ReshapeGroup, consecutive_shards, groups_of_reshape


@exchanges_halos(ReshapeOp)
def exchange_reshape(op: ReshapeOp, context: HaloContext) -> Values:
    """Groups of dimensions are sharded along their first dimension, by the same axes before and after."""
    operand, result = op.operands[0], op.results[0]
    if 0 in shape_of(operand):
        return None
    groups = list(groups_of_reshape(op, context.types))
    reads = _reads(groups, op, context.types)
    body = begin_body(op, context) if reads else None
    if body is None or reads is None:
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


def received_elements(op: ReshapeOp, types: LocalTypes) -> Fraction | None:
    """The number of elements that a device receives in halos; None if a dimension must be replicated."""
    reads = _reads(list(groups_of_reshape(op, types)), op, types)
    if reads is None:
        return None
    total, elements = Fraction(0), Fraction(prod(_shard_shape(op.operands[0], types)))
    for read in reads:
        shard_size = -(-read.reads.size // read.reads.shards)
        total += elements * read.plan.received / shard_size
        elements = elements * read.reads.length / shard_size
    return total


def _shard_shape(value: Value, types: LocalTypes) -> list[int]:
    axes = types.axes_per_dim(value)
    return [types.shard_size(size, axes[dim], value) for dim, size in enumerate(shape_of(value))]


def _reads(groups: Sequence[ReshapeGroup], op: ReshapeOp, types: LocalTypes) -> list[ReadDimension] | None:
    """What each device reads of the groups that need elements of other shards; None if one needs them all."""
    reads: list[ReadDimension] = []
    for number, group in enumerate(groups):
        if group.crossing:
            read = _read(number, group, op, types)
            if read is None:
                return None
            reads.append(read)
    return reads


def _read(number: int, group: ReshapeGroup, op: ReshapeOp, types: LocalTypes) -> ReadDimension | None:
    """What each device reads of the elements of a group, in row-major order."""
    operand, result = op.operands[0], op.results[0]
    before = consecutive_shards(operand, group.operand_dims, types)
    after = consecutive_shards(result, group.result_dims, types)
    if before is None or after is None or before.axes != after.axes:
        return None
    count = types.shard_count(before.axes, operand)
    size = prod(shape_of(operand)[dim] for dim in group.operand_dims)
    starts = [shard * after.size for shard in range(count)]
    needed = [(start, min(start + after.size, size)) if start < size else None for start in starts]
    read = Reads(before.size * count, starts, after.size, needed)
    plan = plan_halo(read)
    return None if plan is None else ReadDimension(number, before.axes, read, plan)
