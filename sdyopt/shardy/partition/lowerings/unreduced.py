"""sharded_to_unreduced and replicated_to_unreduced: partial sums that add up to a tensor."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.collectives import ReplicatedToUnreducedOp, ShardedToUnreducedOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicUpdateSliceOp
from sdyopt.mlir.ir.types import I1, tensor
from sdyopt.shardy.partition.local_builder import ranked, shape_of
from sdyopt.shardy.partition.local_context import LocalContext, first_shard_table, offset_type
from sdyopt.shardy.partition.registry import Lowered, lowering


@lowering(ShardedToUnreducedOp)
def lower_sharded_to_unreduced(op: ShardedToUnreducedOp, local: LocalContext) -> Lowered:
    """Zeros, except for the elements of the shard of this device."""
    mesh, builder = local.mesh(op.out_sharding, op), local.builder(op)
    type = local.local_tensor(op.output, op)
    zeros = builder.sum_identity(type)
    element = offset_type(shape_of(op.output))
    starts = [
        local.offset(builder, axes.axes, mesh, size, element) if axes else builder.index(0, element)
        for axes, size in zip(op.axes, shape_of(op.tensor), strict=True)
    ]
    return builder.create(DynamicUpdateSliceOp, [zeros, op.tensor, *starts], [type]).results


@lowering(ReplicatedToUnreducedOp)
def lower_replicated_to_unreduced(op: ReplicatedToUnreducedOp, local: LocalContext) -> Lowered:
    """The tensor on the first device of each group, and zeros on the others."""
    mesh, builder, type = local.mesh(op.out_sharding, op), local.builder(op), ranked(op.tensor)
    mask = builder.reshape(local.lookup(builder, first_shard_table(tuple(op.axes), mesh, op), I1), ())
    full_mask = builder.broadcast(mask, tensor(type.shape, I1))
    return [builder.select(full_mask, op.tensor, builder.sum_identity(type))]
