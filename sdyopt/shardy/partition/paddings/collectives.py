"""Collectives on padded tensors.

If the padded sizes before and after a collective are equal, each larger shard consists of whole smaller ones:
8 elements are 2+2+2+2 on four devices, and 4+4 on two. Otherwise the borders between shards differ: 6
elements are 2+2+2+0 on four devices, and 3+3 on two. An all-gather makes two shards of 4+2 elements, and
the second then gets an element of the first one in a halo. An all-slice exchanges halos first. If they are as
large as the rest of the dimension, it is gathered, cut, padded again, and sliced.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.axes import difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.axis_lists import AxesPerDim, AxisRefList
from sdyopt.mlir.dialects.sdy.collective_base import CollectiveOp
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    CollectivePermuteOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ShardedToUnreducedOp,
)
from sdyopt.mlir.dialects.sdy.reduction_kind import reduction_attributes
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import Padding, ReadDimension, exchange
from sdyopt.shardy.partition.halo_plan import Reads, plan_halo
from sdyopt.shardy.partition.halo_registry import may_exchange
from sdyopt.shardy.partition.local_builder import ranked, scalar_type, shape_of
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape
from sdyopt.shardy.partition.sharded_body import ShardedBody
from sdyopt.shardy.sharding.axis_lists import Axes, common_prefix, sharded_size


def slice_replicated(op: Op, whole: Value, sharding: TensorSharding | None, padder: Padder) -> Value:
    """The shards of a tensor that is whole and not padded on every device."""
    assert sharding is not None
    replicated = fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=True)
    return _slice_further(op, whole, shape_of(whole), replicated, sharding, padder)


def _slice_further(
    op: Op,
    value: Value,
    unpadded: Sequence[int],
    before: TensorSharding,
    after: TensorSharding,
    padder: Padder,
) -> Value:
    """The shards of a tensor that is sharded along a prefix of the axes."""
    padded = padder.pad(op, value, _padded_shape(unpadded, after, padder))
    attributes = {"slicing_axes": _axes_without(after, before, padder), "out_sharding": after}
    sliced = padder.builder(op).create(AllSliceOp, [padded], [padded.type], attributes).result
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
    shape = tuple(map(max, old, new))
    moved = {
        dim
        for dim, each in enumerate(zip(before.dims, after.dims, old, new, strict=True))
        if _borders_differ(*each)
    }
    if moved and isinstance(op, ReduceScatterOp):
        value, before = _all_reduced(op, before, padder)
        slicing = AllSliceOp, {"slicing_axes": op.reduce_scatter_axes, "out_sharding": after}
    else:
        value, slicing = op.tensor, None
    moves_before = _moves(before, unpadded, old, shape, moved, padder)
    moves_after = _moves(after, unpadded, shape, new, moved, padder)
    if moved and (moves_before is None or moves_after is None or _is_partial(op, before, after)):
        return [_gather_and_slice(op, value, before, unpadded, moved, padder)]
    assert moves_before is not None and moves_after is not None, "nothing moves"
    is_zero_padded = op.tensor in padder.zero_padded or old == unpadded
    value = _move_borders(op, value, before, moves_before, padder)
    value = padder.pad(op, value, shape)
    type = tensor(shape, ranked(value).element)
    if slicing is None:
        result = padder.recreate(op, [value], [type]).result
    else:
        result = padder.builder(op).create(slicing[0], [value], [type], slicing[1]).result
    cut = _move_borders(op, result, after, moves_after, padder)
    cut = padder.cut(op, cut, new, after)
    if is_zero_padded and not moved:
        padder.zero_padded |= {result, cut, op.output}
    return [cut]


def _borders_differ(before: DimensionSharding, after: DimensionSharding, old: int, new: int) -> bool:
    """Whether the borders between shards differ, where a dimension is sharded before and after."""
    return bool(before.axes) and bool(after.axes) and old != new


def _is_partial(op: CollectiveOp, before: TensorSharding, after: TensorSharding) -> bool:
    """Whether a value is partial before or after a collective.

    What combines it looks for the operation that made it partial, which a manual computation would hide.
    """
    if before.unreduced_axes or after.unreduced_axes:
        return True
    users = [use.owner for use in op.results[0].uses]
    for user in users:
        if isinstance(user, PadOp | SliceOp | AllSliceOp):
            users += [use.owner for use in user.results[0].uses]
    return any(isinstance(user, AllReduceOp | ReduceScatterOp) for user in users)


def _moves(
    sharding: TensorSharding,
    unpadded: Sequence[int],
    old: Sequence[int],
    new: Sequence[int],
    dims: set[int],
    padder: Padder,
) -> list[ReadDimension] | None:
    """The halos by which some padded dimensions get other sizes, so that borders between shards move.

    None if halos cannot be exchanged, or are as large as the rest of a dimension.
    """
    moves: list[ReadDimension] = []
    mesh = padder.types.mesh(sharding)
    for dim in sorted(dims):
        if old[dim] == new[dim]:
            continue
        axes = sharding.dims[dim].axes
        if mesh is None or not may_exchange(mesh):
            return None
        shards = sharded_size(axes, mesh)
        size, end = new[dim] // shards, unpadded[dim]
        starts = [shard * size for shard in range(shards)]
        needed = [(start, min(start + size, end)) if start < end else None for start in starts]
        reads = Reads(old[dim], starts, size, needed)
        plan = plan_halo(reads)
        if plan is None:
            return None
        moves.append(ReadDimension(dim, axes, reads, plan))
    return moves


def _move_borders(
    op: CollectiveOp, value: Value, sharding: TensorSharding, moves: list[ReadDimension], padder: Padder
) -> Value:
    """The value with shards of other sizes. What is after the last element is undefined."""
    mesh = padder.types.mesh(sharding)
    if mesh is None or not moves:
        return value
    body = ShardedBody(op, sharding.mesh_or_ref, mesh, padder.context)
    shard, shape = body.shard_of(value), list(shape_of(value))
    undefined = Padding(body.zero(scalar_type(shard)), is_zero=True)
    for move in moves:
        shard = exchange(body, shard, move, undefined)
        shape[move.dim] = move.reads.length * move.reads.shards
    (moved,) = body.computation([shard], [tensor(tuple(shape), ranked(value).element)], [sharding])
    return moved


def _all_reduced(op: ReduceScatterOp, before: TensorSharding, padder: Padder) -> tuple[Value, TensorSharding]:
    """The operand of a reduce-scatter, reduced but not scattered, and its sharding."""
    mesh = padder.types.mesh(before)
    assert mesh is not None
    reduced = AxisRefList(sorted_and_merged(op.reduce_scatter_axes.axes, mesh))
    after = before.with_unreduced_axes(difference(before.unreduced_axes, reduced.axes, mesh))
    attributes = {
        "reduction_axes": reduced,
        "out_sharding": after,
        **reduction_attributes(op.reduction_op),
    }
    return padder.builder(op).create(AllReduceOp, [op.tensor], [op.tensor.type], attributes).result, after


def _gather_and_slice(
    op: CollectiveOp,
    value: Value,
    before: TensorSharding,
    unpadded: Sequence[int],
    moved: set[int],
    padder: Padder,
) -> Value:
    """Gathers the dimensions whose borders move, and slices the tensor into its new shards."""
    mesh, after = padder.types.mesh(before), op.out_sharding
    assert mesh is not None
    kept = before.with_dims(
        DimensionSharding() if dim in moved else DimensionSharding(common_prefix(old.axes, new.axes))
        for dim, (old, new) in enumerate(zip(before.dims, after.dims, strict=True))
    )
    gather = {"gathering_axes": _axes_without(before, kept, padder), "out_sharding": kept}
    value = padder.builder(op).create(AllGatherOp, [value], [value.type], gather).result
    value = padder.cut(op, value, _padded_shape(unpadded, kept, padder), kept)
    if not isinstance(op, ShardedToUnreducedOp):
        return _slice_further(op, value, unpadded, kept, after, padder)
    axes: Axes = tuple(op.axes.axes)
    whole = after.with_unreduced_axes(difference(after.unreduced_axes, axes, mesh))
    shards = _slice_further(op, value, unpadded, kept, whole, padder)
    attributes = {"axes": AxisRefList(sorted_and_merged(axes, mesh)), "out_sharding": after}
    partial = padder.builder(op).create(ReplicatedToUnreducedOp, [shards], [shards.type], attributes).result
    padder.zero_padded.add(partial)
    return partial


def _padded_shape(unpadded: Sequence[int], sharding: TensorSharding, padder: Padder) -> tuple[int, ...]:
    mesh = padder.types.mesh(sharding)
    counts = [1 if mesh is None else dim.sharded_size(mesh) for dim in sharding.dims]
    return tuple([-(-size // count) * count for size, count in zip(unpadded, counts, strict=True)])


def _axes_without(sharding: TensorSharding, other: TensorSharding, padder: Padder) -> AxesPerDim:
    """The axes of each dimension without those of another sharding."""
    mesh = padder.types.mesh(sharding)
    assert mesh is not None
    return AxesPerDim(
        tuple(
            [
                AxisRefList(difference(dim.axes, kept.axes, mesh))
                for dim, kept in zip(sharding.dims, other.dims, strict=True)
            ]
        )
    )
