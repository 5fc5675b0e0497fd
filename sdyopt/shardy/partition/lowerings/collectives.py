"""sdy.all_reduce, all_slice and collective_permute.

all_gather, reduce_scatter and all_to_all are in `multi_dim_collectives`: those of sdy may change several
dimensions, their StableHLO counterparts one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, AllSliceOp, CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.ir.types import I64, tensor
from sdyopt.shardy.partition.device_positions import shard_indices
from sdyopt.shardy.partition.local_builder import dense_integers
from sdyopt.shardy.partition.local_context import LocalContext, check_device_count
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
