"""reverse: each device gets its elements from the shards at the other end."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.shapes import ReverseOp
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.types import I64
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.device_positions import replica_groups
from sdyopt.shardy.partition.halo_exchange import permute
from sdyopt.shardy.partition.halo_registry import Values, begin_body, exchanges_halos
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_types import Axes
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, shape_along


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
