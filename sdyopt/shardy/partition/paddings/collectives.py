"""Collectives on padded tensors.

If the padded sizes before and after a collective are equal, each larger shard consists of whole smaller ones:
8 elements are 2+2+2+2 on four devices, and 4+4 on two. Otherwise the borders between shards differ: 6
elements are 2+2+2+0 on four devices, and 3+3 on two. Then the dimension is gathered, cut, padded again, and
sliced.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.axes import AxesPerDim, AxisRefList, difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ShardedToUnreducedOp,
)
from sdyopt.mlir.dialects.sdy.reduction_kind import reduction_attributes
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding, fully_replicated
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import ranked
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape


def slice_replicated(op: Op, whole: Value, sharding: TensorSharding | None, padder: Padder) -> Value:
    """The shards of a tensor that is whole and not padded on every device."""
    assert sharding is not None
    type = padder.types.padded_type(whole.type, sharding)
    assert isinstance(type, RankedTensor)
    padded = padder.pad(op, whole, type.shape)
    attributes = {"slicing_axes": _axes_per_dim(sharding.dims), "out_sharding": sharding}
    sliced = padder.builder(op).create(AllSliceOp, [padded], [type], attributes).result
    padder.zero_padded.add(sliced)
    return sliced


@pads(AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp, AllReduceOp, ReduceScatterOp)
@pads(ShardedToUnreducedOp, ReplicatedToUnreducedOp)
def pad_collective(op: CollectiveOp, padder: Padder) -> Padded:
    """Pads dimensions that become sharded, and cuts the padding of those that no longer are."""
    unpadded, after = unpadded_shape(op, 0), op.out_sharding
    before = padder.types.sharding(op.tensor)
    if before is None:
        before = fully_replicated(after.rank, after.mesh_or_ref, is_closed=True)
    old, new = (_padded_shape(unpadded, sharding, padder) for sharding in (before, after))
    if any(_borders_differ(*each) for each in zip(before.dims, after.dims, old, new, strict=True)):
        return [_move_borders(op, before, unpadded, padder)]
    shape = tuple(map(max, old, new))
    is_zero_padded = op.tensor in padder.zero_padded or old == unpadded
    value = padder.pad(op, op.tensor, shape)
    type = tensor(shape, ranked(value).element)
    result = padder.recreate(op, [value], [type]).result
    cut = padder.cut(op, result, new, after)
    if is_zero_padded:
        padder.zero_padded |= {result, cut, op.output}
    return [cut]


def _borders_differ(before: DimensionSharding, after: DimensionSharding, old: int, new: int) -> bool:
    """Whether the borders between shards differ, where a dimension is sharded before and after."""
    return bool(before.axes) and bool(after.axes) and old != new


def _move_borders(op: CollectiveOp, before: TensorSharding, unpadded: Sequence[int], padder: Padder) -> Value:
    """Gathers a tensor, and slices it into its new shards."""
    value: Value = op.tensor
    if isinstance(op, ReduceScatterOp):
        mesh = padder.types.mesh(before)
        assert mesh is not None
        axes = AxisRefList(sorted_and_merged(op.reduce_scatter_axes.axes, mesh))
        before = before.with_unreduced_axes(difference(before.unreduced_axes, axes.axes, mesh))
        attributes = {
            "reduction_axes": axes,
            "out_sharding": before,
            **reduction_attributes(op.reduction_op),
        }
        value = padder.builder(op).create(AllReduceOp, [value], [value.type], attributes).result
    if not before.is_fully_replicated:
        whole = fully_replicated(before.rank, before.mesh_or_ref, is_closed=True).with_unreduced_axes(
            before.unreduced_axes, before.reduction
        )
        gather = {"gathering_axes": _axes_per_dim(before.dims), "out_sharding": whole}
        value = padder.builder(op).create(AllGatherOp, [value], [value.type], gather).result
        value = padder.cut(op, value, unpadded, whole)
    if isinstance(op, ShardedToUnreducedOp):
        return _slice_unreduced(op, value, padder)
    return slice_replicated(op, value, op.out_sharding, padder)


def _slice_unreduced(op: ShardedToUnreducedOp, whole: Value, padder: Padder) -> Value:
    """The new shards of a tensor that is whole on every device, as partial results."""
    after = op.out_sharding
    axes, mesh = tuple(op.axes.axes), padder.types.mesh(after)
    assert mesh is not None
    before = after.with_unreduced_axes(difference(after.unreduced_axes, axes, mesh))
    shards = slice_replicated(op, whole, before, padder)
    attributes = {"axes": AxisRefList(sorted_and_merged(axes, mesh)), "out_sharding": after}
    partial = padder.builder(op).create(ReplicatedToUnreducedOp, [shards], [shards.type], attributes).result
    padder.zero_padded.add(partial)
    return partial


def _padded_shape(unpadded: Sequence[int], sharding: TensorSharding, padder: Padder) -> tuple[int, ...]:
    mesh = padder.types.mesh(sharding)
    counts = [1 if mesh is None else dim.sharded_size(mesh) for dim in sharding.dims]
    return tuple([-(-size // count) * count for size, count in zip(unpadded, counts, strict=True)])


def _axes_per_dim(dims: Sequence[DimensionSharding]) -> AxesPerDim:
    return AxesPerDim(tuple([AxisRefList(dim.axes) for dim in dims]))
