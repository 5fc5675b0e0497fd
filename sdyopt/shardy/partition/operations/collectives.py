"""The collectives of sdy along one dimension, and the padding of all collectives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sdyopt.base.dataclasses import dataclass
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
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicUpdateSliceOp, PadOp, SliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import Padding, ReadDimension, Reads, exchange, plan_halo
from sdyopt.shardy.partition.local_builder import dense_integers, scalar_type, shape_of
from sdyopt.shardy.partition.local_context import (
    LocalContext,
    Lowered,
    check_device_count,
    first_shard_table,
    lowering,
    offset_type,
)
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape
from sdyopt.shardy.partition.partial_results import combine_partial_results
from sdyopt.shardy.partition.sharded_body import ShardedBody, may_exchange
from sdyopt.shardy.sharding.axis_lists import Axes, common_prefix, shard_indices, sharded_size


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
    old, new = (
        _all_parts(s, parts) if parts else tuple([axis for dim in s.dims for axis in dim.axes])
        for s in (before, after)
    )
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


# --- Collectives on padded tensors ------------------------------------------------------------------
#
# If the padded sizes before and after a collective are equal, each larger shard consists of whole smaller
# ones: 8 elements are 2+2+2+2 on four devices, and 4+4 on two. Otherwise the borders between shards differ: 6
# elements are 2+2+2+0 on four devices, and 3+3 on two. An all-gather makes two shards of 4+2 elements, and
# the second then gets an element of the first one in a halo. An all-slice exchanges halos first. If they are
# as large as the rest of the dimension, it is gathered, cut, padded again, and sliced.


def slice_replicated(op: Op, whole: Value, sharding: TensorSharding | None, padder: Padder) -> Value:
    """The shards of a tensor that is whole and not padded on every device."""
    assert sharding is not None
    replicated = fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=True)
    return _CollectivePadder(padder).slice_further(op, whole, shape_of(whole), replicated, sharding)


@dataclass(frozen=True)
class _CollectivePadder:
    """What padding changes in collectives."""

    padder: Padder

    def slice_further(
        self, op: Op, value: Value, unpadded: Sequence[int], before: TensorSharding, after: TensorSharding
    ) -> Value:
        """The shards of a tensor that is sharded along a prefix of the axes."""
        padded = self.padder.pad(op, value, self.padded_shape(unpadded, after))
        attributes = {"slicing_axes": self._axes_without(after, before), "out_sharding": after}
        sliced = self.padder.builder(op).create(AllSliceOp, [padded], [padded.type], attributes).result
        self.padder.zero_padded.add(sliced)
        return sliced

    def moves(
        self,
        sharding: TensorSharding,
        unpadded: Sequence[int],
        old: Sequence[int],
        new: Sequence[int],
        dims: set[int],
    ) -> list[ReadDimension] | None:
        """The halos by which some padded dimensions get other sizes, so that borders between shards move.

        None if halos cannot be exchanged, or are as large as the rest of a dimension.
        """
        moves: list[ReadDimension] = []
        mesh = self.padder.types.mesh(sharding)
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

    def move_borders(
        self, op: CollectiveOp, value: Value, sharding: TensorSharding, moves: list[ReadDimension]
    ) -> Value:
        """The value with shards of other sizes. What is after the last element is undefined."""
        mesh = self.padder.types.mesh(sharding)
        if mesh is None or not moves:
            return value
        body = ShardedBody(op, sharding.mesh_or_ref, mesh, self.padder.context)
        shard, shape = body.shard_of(value), list(shape_of(value))
        undefined = Padding(body.zero(scalar_type(shard)), is_zero=True)
        for move in moves:
            shard = exchange(body, shard, move, undefined)
            shape[move.dim] = move.reads.length * move.reads.shards
        (moved,) = body.computation([shard], [tensor(tuple(shape), ranked(value).element)], [sharding])
        return moved

    def all_reduced(self, op: ReduceScatterOp, before: TensorSharding) -> tuple[Value, TensorSharding]:
        """The operand of a reduce-scatter, reduced but not scattered, and its sharding."""
        mesh = self.padder.types.mesh(before)
        assert mesh is not None
        reduced = AxisRefList(sorted_and_merged(op.reduce_scatter_axes.axes, mesh))
        after = before.with_unreduced_axes(difference(before.unreduced_axes, reduced.axes, mesh))
        attributes = {
            "reduction_axes": reduced,
            "out_sharding": after,
            **reduction_attributes(op.reduction_op),
        }
        return self.padder.builder(op).create(
            AllReduceOp, [op.tensor], [op.tensor.type], attributes
        ).result, after

    def gather_and_slice(
        self, op: CollectiveOp, value: Value, before: TensorSharding, unpadded: Sequence[int], moved: set[int]
    ) -> Value:
        """Gathers the dimensions whose borders move, and slices the tensor into its new shards."""
        mesh, after = self.padder.types.mesh(before), op.out_sharding
        assert mesh is not None
        kept = before.with_dims(
            DimensionSharding() if dim in moved else DimensionSharding(common_prefix(old.axes, new.axes))
            for dim, (old, new) in enumerate(zip(before.dims, after.dims, strict=True))
        )
        gather = {"gathering_axes": self._axes_without(before, kept), "out_sharding": kept}
        value = self.padder.builder(op).create(AllGatherOp, [value], [value.type], gather).result
        value = self.padder.cut(op, value, self.padded_shape(unpadded, kept), kept)
        if not isinstance(op, ShardedToUnreducedOp):
            return self.slice_further(op, value, unpadded, kept, after)
        axes: Axes = tuple(op.axes.axes)
        whole = after.with_unreduced_axes(difference(after.unreduced_axes, axes, mesh))
        shards = self.slice_further(op, value, unpadded, kept, whole)
        attributes = {"axes": AxisRefList(sorted_and_merged(axes, mesh)), "out_sharding": after}
        partial = (
            self.padder.builder(op)
            .create(ReplicatedToUnreducedOp, [shards], [shards.type], attributes)
            .result
        )
        self.padder.zero_padded.add(partial)
        return partial

    def padded_shape(self, unpadded: Sequence[int], sharding: TensorSharding) -> tuple[int, ...]:
        mesh = self.padder.types.mesh(sharding)
        counts = [1 if mesh is None else dim.sharded_size(mesh) for dim in sharding.dims]
        return tuple([-(-size // count) * count for size, count in zip(unpadded, counts, strict=True)])

    def _axes_without(self, sharding: TensorSharding, other: TensorSharding) -> AxesPerDim:
        """The axes of each dimension without those of another sharding."""
        mesh = self.padder.types.mesh(sharding)
        assert mesh is not None
        return AxesPerDim(
            tuple(
                [
                    AxisRefList(difference(dim.axes, kept.axes, mesh))
                    for dim, kept in zip(sharding.dims, other.dims, strict=True)
                ]
            )
        )


@pads(AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp, AllReduceOp, ReduceScatterOp)
@pads(ShardedToUnreducedOp, ReplicatedToUnreducedOp)
def pad_collective(op: CollectiveOp, padder: Padder) -> Padded:
    """Pads dimensions that become sharded, and cuts the padding of those that no longer are."""
    unpadded, after = unpadded_shape(op, 0), op.out_sharding
    before = padder.types.sharding(op.tensor)
    if before is None:
        before = fully_replicated(after.rank, after.mesh_or_ref, is_closed=True)
    collective_padder = _CollectivePadder(padder)
    old, new = (collective_padder.padded_shape(unpadded, sharding) for sharding in (before, after))
    shape = tuple(map(max, old, new))
    moved = {
        dim
        for dim, parts in enumerate(zip(before.dims, after.dims, old, new, strict=True))
        if _borders_differ(*parts)
    }
    if moved and isinstance(op, ReduceScatterOp):
        value, before = collective_padder.all_reduced(op, before)
        slicing = AllSliceOp, {"slicing_axes": op.reduce_scatter_axes, "out_sharding": after}
    else:
        value, slicing = op.tensor, None
    moves_before = collective_padder.moves(before, unpadded, old, shape, moved)
    moves_after = collective_padder.moves(after, unpadded, shape, new, moved)
    if moved and (moves_before is None or moves_after is None or _is_partial(op, before, after)):
        return [collective_padder.gather_and_slice(op, value, before, unpadded, moved)]
    assert moves_before is not None and moves_after is not None, "nothing moves"
    is_zero_padded = op.tensor in padder.zero_padded or old == unpadded
    value = collective_padder.move_borders(op, value, before, moves_before)
    value = padder.pad(op, value, shape)
    type = tensor(shape, ranked(value).element)
    if slicing is None:
        result = padder.recreate(op, [value], [type]).result
    else:
        result = padder.builder(op).create(slicing[0], [value], [type], slicing[1]).result
    cut = collective_padder.move_borders(op, result, after, moves_after)
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
