"""The collectives of sdy along one dimension, and the padding of all collectives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sdyopt.mlir.dialects.sdy.axes import (
    AxesPerDim,
    AxisRef,
    AxisRefList,
    SubAxis,
    difference,
    sorted_and_merged,
)
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
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import reduction_attributes
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicUpdateSliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.device_positions import shard_indices
from sdyopt.shardy.partition.local_builder import dense_integers, ranked, shape_of
from sdyopt.shardy.partition.local_context import (
    LocalContext,
    check_device_count,
    first_shard_table,
    offset_type,
)
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape
from sdyopt.shardy.partition.partial_results import combine_partial_results
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.sharding.axis_lists import Axes


@lowering(AllSliceOp)
def lower_all_slice(op: AllSliceOp, local: LocalContext) -> Lowered:
    """Cuts out the shard of this device."""
    mesh = local.mesh(op.out_sharding, op)
    axes_per_dim = [axes.axes for axes in op.slicing_axes]
    type = local.local_tensor(op.output, op)
    return [local.slice_for_axes(local.builder(op), op.tensor, axes_per_dim, mesh, type)]


@lowering(AllReduceOp)
def lower_all_reduce(op: AllReduceOp, local: LocalContext) -> Lowered:
    """Combines partial results with the reduction that produced them."""
    return [combine_partial_results(op, op.reduction_axes.axes, op.out_sharding, local)]


@lowering(CollectivePermuteOp)
def lower_collective_permute(op: CollectivePermuteOp, local: LocalContext) -> Lowered:
    """Sends each shard to the devices that have it afterwards."""
    before, after = local.sharding(op.tensor), op.out_sharding
    mesh_after = local.mesh(after, op)
    if before is None:
        raise op.op_error("collective on operand without sharding")
    mesh_before = local.mesh(before, op)
    if before is after:
        return [op.tensor]
    if mesh_before.total_size != mesh_after.total_size:
        raise op.op_error("collective-permute between meshes of different sizes is not supported.")
    check_device_count(mesh_after, op)
    # The verifier requires the same axes of both meshes; only their device ids may differ.
    parts = _common_parts((*before.axis_refs, *after.axis_refs), mesh_after)
    # With common parts, each shard here is one device; without, the devices of a shard are paired by id.
    old, new = (_all_parts(s, parts) if parts else _dim_axes(s) for s in (before, after))
    senders = _by_shard(shard_indices(old, mesh_before))
    receivers = _by_shard(shard_indices(new, mesh_after))
    if any(len(senders[shard]) != len(receivers.get(shard, ())) for shard in senders):
        raise op.op_error("sub-axes that do not divide each other shard one tensor")
    targets = {
        device: target
        for shard in senders
        for device, target in zip(senders[shard], receivers[shard], strict=True)
    }
    pairs = [number for device in sorted(targets) for number in (device, targets[device])]
    attributes = {
        "source_target_pairs": dense_integers(tensor((len(targets), 2), I64), pairs),
        "channel_handle": local.new_channel(),
    }
    builder = local.builder(op)
    return builder.create(stablehlo.CollectivePermuteOp, [op.tensor], [op.tensor.type], attributes).results


def _by_shard(indices: Sequence[int]) -> dict[int, list[int]]:
    """The devices that have each shard, in ascending order; the key is the index of the shard."""
    devices: dict[int, list[int]] = {}
    for device, index in enumerate(indices):
        devices.setdefault(index, []).append(device)
    return devices


def _dim_axes(sharding: TensorSharding) -> Axes:
    return tuple([axis for dim in sharding.dims for axis in dim.axes])


def _all_parts(sharding: TensorSharding, parts: Axes) -> Axes:
    """All parts of the mesh axes: those of the dimensions in order, then the others."""
    used = [part for dim in sharding.dims for axis in dim.axes for part in parts if axis.contains(part)]
    return (*used, *[part for part in parts if part not in used])


def _common_parts(axes: tuple[AxisRef, ...], mesh: Mesh) -> Axes:
    """All axes of a mesh, each divided at the borders of all sub-axes in `axes`.

    Empty if some borders do not divide each other; devices are then matched by their shards and ids.
    """
    parts: list[AxisRef] = []
    for mesh_axis in mesh.axes:
        borders = {1, mesh_axis.size}
        for axis in axes:
            if axis.name == mesh_axis.name:
                borders |= {axis.pre_size, axis.next_pre_size(mesh)}
        ordered = sorted(borders)
        if any(end % start for start, end in pairwise(ordered)):
            return ()
        if len(ordered) <= 2:
            parts.append(AxisRef(mesh_axis.name))
        else:
            parts += [AxisRef(mesh_axis.name, SubAxis(a, b // a)) for a, b in pairwise(ordered)]
    return tuple(parts)


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
