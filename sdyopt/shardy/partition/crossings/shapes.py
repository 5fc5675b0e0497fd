"""reshape, broadcast_in_dim, iota: dimensions that cannot be split, merged or expanded within shards."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.replication import Dim, all_dims, crosses_shards
from sdyopt.shardy.partition.sharded_reshapes import groups_of_reshape


@crosses_shards(ReshapeOp)
def reshape(op: ReshapeOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions that are split or merged, unless both sides have the same blocks of elements.

    Also dimensions of size 1 next to a dimension that is kept.
    """
    if 0 in shape_of(op.operands[0]):
        yield from all_dims(op)
        return
    for group in groups_of_reshape(op, types):
        yield from group.crossing


@crosses_shards(BroadcastInDimOp)
def broadcast_in_dim(op: BroadcastInDimOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions of size 1: all their shards but the first are padding."""
    for dim, result_dim in enumerate(op.broadcast_dimensions):
        if shape_of(op.operand)[dim] == 1:
            yield Dim(0, dim)
            if shape_of(op.results[0])[result_dim] == 1:
                yield Dim(1, result_dim)


@crosses_shards(IotaOp)
def iota(op: IotaOp, types: LocalTypes) -> Iterator[Dim]:
    """No dimension: each shard counts from its offset."""
    yield from ()
