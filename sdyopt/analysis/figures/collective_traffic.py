"""The traffic of collectives, of sdy and StableHLO: axes, groups, and bytes on the wire by the ring model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any

from sdyopt.analysis.figures.mesh_layout import MAX_DEVICES, moved_share
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy import collectives as sdy
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, mesh_order
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    CollectiveReduceOp,
    CrossReplicaSumOp,
    ReduceScatterOp,
)
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from sdyopt.mlir.dialects.stablehlo.replica_groups import AxisRef as GroupAxis
from sdyopt.mlir.dialects.stablehlo.replica_groups import Mesh as GroupMesh
from sdyopt.mlir.dialects.stablehlo.replica_groups import ReplicaGroupMeshAxes, SubAxisInfo
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.notation.hlo_programs import is_marked_as_partitioned
from sdyopt.shardy.partition.halo_exchange import Reads, plan_halo

# What one device sends by the ring model: the trips around the ring, and whether parts of its results are
# sent instead of parts of its operands.
_RINGS: dict[type[Op], tuple[int, bool]] = {
    AllGatherOp: (1, True),
    AllReduceOp: (2, False),
    AllToAllOp: (1, False),
    CollectiveBroadcastOp: (1, False),
    CollectiveReduceOp: (1, False),
    CrossReplicaSumOp: (2, False),
    ReduceScatterOp: (1, False),
}

COLLECTIVES: tuple[type[Op], ...] = (*_RINGS, CollectivePermuteOp)


class GroupTraffic:
    """The groups of devices of a collective, and what each device sends.

    `axes` is the text of the axes along which the groups are, or words if they follow no axes. What a device
    sends is `share_in` times the bytes of its operands plus `share_out` times those of its results;
    `share_in` is None if that is unknown.
    """

    def __init__(self, axes: str, group_size: int | None, share_in: Fraction | None, share_out: Fraction):
        self.axes = axes
        self.group_size = group_size
        self.share_in = share_in
        self.share_out = share_out


def traffic_of(op: Op, mesh: Mesh | None) -> GroupTraffic:
    """The traffic of a StableHLO collective, with the names of mesh axes if the groups follow them."""
    if isinstance(op, CollectivePermuteOp):
        return _permute(op.source_target_pairs, mesh)
    rounds, is_of_result = _RINGS[type(op)]
    axes, size = _groups(op.signature.attributes.get("replica_groups"), mesh)
    share = None if size is None else Fraction(rounds * (size - 1), max(size, 1))
    if is_of_result:
        return GroupTraffic(axes, size, Fraction(0) if share is not None else None, share or Fraction(0))
    return GroupTraffic(axes, size, share, Fraction(0))


# Programs repeat a few replica groups often, and it is slow to compute the axes of large ones.
@lru_cache(maxsize=64)
def _groups(attribute: Attribute | None, mesh: Mesh | None) -> tuple[str, int | None]:
    """The text of the axes along which the groups are, or words if there are none, and the largest size."""
    if isinstance(attribute, ReplicaGroupMeshAxes):
        return _mesh_axes(attribute, mesh)
    if not isinstance(attribute, DenseElements):
        return "groups of unknown size", None
    count, size = attribute.type.shape if len(attribute.type.shape) == 2 else (0, 0)
    if not count or not size:
        # All devices are one group.
        total = None if mesh is None else mesh.total_size
        return ("all devices", total) if mesh is None else (_names([a.name for a in mesh.axes]), total)
    ids = integers_of(attribute)
    groups = [[d for d in ids[at : at + size] if d >= 0] for at in range(0, count * size, size)]
    largest = max(len(group) for group in groups)
    names = None if mesh is None else axes_of_groups(groups, mesh)
    return (f"groups of {largest}" if names is None else _names(names)), largest


def _mesh_axes(groups: ReplicaGroupMeshAxes, mesh: Mesh | None) -> tuple[str, int | None]:
    axes = [axis for axis in map(_stablehlo_axis, groups.axes) if isinstance(axis, GroupAxis)]
    sizes: dict[str, int] = {}
    if isinstance(groups.mesh, GroupMesh):
        sizes = {axis.name: axis.size for axis in groups.mesh.axes}
    elif mesh is not None:
        sizes = {axis.name: axis.size for axis in mesh.axes}
    known = [axis.sub_axis_info.size if axis.sub_axis_info else sizes.get(axis.name) for axis in axes]
    total = None if None in known else prod(size for size in known if size is not None)
    texts = [
        f'"{axis.name}"'
        + (f":({axis.sub_axis_info.pre_size}){axis.sub_axis_info.size}" if axis.sub_axis_info else "")
        for axis in axes
    ]
    return "{" + ", ".join(texts) + "}", total


def _stablehlo_axis(axis: Attribute) -> Attribute:
    """An axis of replica groups in StableHLO's form, also if the program has it in the form of shardings."""
    if not isinstance(axis, AxisRef):
        return axis
    sub_axis = axis.sub_axis
    info = None if sub_axis is None else SubAxisInfo(sub_axis.pre_size, sub_axis.size)
    return GroupAxis(axis.name, info)


def axes_of_groups(groups: Sequence[Sequence[int]], mesh: Mesh) -> list[str] | None:
    """The axes along which the devices of each group are; None if the groups do not follow mesh axes.

    None also if the mesh is too large.
    """
    total = mesh.total_size
    if total > MAX_DEVICES or sorted(d for group in groups for d in group) != list(range(total)):
        return None
    position = {device: index for index, device in enumerate(mesh.device_ids or range(total))}
    coordinates = {device: _coordinates(position[device], mesh) for device in position}
    names = [axis.name for axis in mesh.axes]
    varying = {
        name
        for group in groups
        for first, second in pairwise(group)
        for name, one, other in zip(names, coordinates[first], coordinates[second], strict=True)
        if one != other
    }
    expected = prod(axis.size for axis in mesh.axes if axis.name in varying)
    if any(len(group) != expected for group in groups):
        return None
    return [name for name in names if name in varying]


def _coordinates(position: int, mesh: Mesh) -> tuple[int, ...]:
    result = []
    for axis in reversed(mesh.axes):
        result.append(position % axis.size)
        position //= axis.size
    return tuple(reversed(result))


@lru_cache(maxsize=64)
def _permute(source_target_pairs: DenseElements, mesh: Mesh | None) -> GroupTraffic:
    ids = integers_of(source_target_pairs)
    pairs = list(zip(ids[::2], ids[1::2], strict=True))
    moving = [pair for pair in pairs if pair[0] != pair[1]]
    devices = mesh.total_size if mesh is not None else max(ids, default=-1) + 1
    share = Fraction(len(moving), devices) if devices else Fraction(0)
    names = None if mesh is None else _axes_of_pairs(moving, mesh)
    axes = f"pairs of {devices} devices" if names is None else _names(names)
    size = None
    if names is not None and mesh is not None:
        size = prod(mesh.axis_size(name) for name in names)
    return GroupTraffic(axes, size, share, Fraction(0))


def _axes_of_pairs(pairs: Sequence[tuple[int, int]], mesh: Mesh) -> list[str] | None:
    """The axes along which source and target differ in at least one pair.

    None if a device is not in the mesh, or the mesh is too large.
    """
    total = mesh.total_size
    if total > MAX_DEVICES or any(device >= total for pair in pairs for device in pair):
        return None
    position = {device: index for index, device in enumerate(mesh.device_ids or range(total))}
    varying: set[str] = set()
    for source, target in pairs:
        sides = (_coordinates(position[device], mesh) for device in (source, target))
        varying |= {axis.name for axis, one, other in zip(mesh.axes, *sides, strict=True) if one != other}
    return [axis.name for axis in mesh.axes if axis.name in varying]


def _names(names: Sequence[str]) -> str:
    return "{" + ", ".join(f'"{name}"' for name in names) + "}"


def is_partitioned(module: Op) -> bool:
    """Whether the types of a program are local: what `sdy-finish-partitioning` marks.

    A program that other tools have partitioned has no mark, but StableHLO collectives, no manual computation
    and no collective of sdy. Shardings do not show it, because partitioning keeps those of functions.
    """
    if is_marked_as_partitioned(module):
        return True
    kinds = {type(op) for op in module.walk()}
    if any(issubclass(kind, ManualComputationOp | CollectiveOp) for kind in kinds):
        return False
    return not kinds.isdisjoint(COLLECTIVES)


class Traffic(NamedTuple):
    """The traffic of a collective: the axes along which devices form groups, the size of a group, and the
    bytes that one device sends as a multiple of its local operand and of its local result.

    `share_in` is None where the number of devices that send is unknown.
    """

    axes: tuple[AxisRef, ...]
    group_size: int
    share_in: Fraction | None
    share_out: Fraction = Fraction(0)


# (operation, sharding before, mesh before, mesh after) -> traffic
TrafficOf = Callable[[Any, TensorSharding, Mesh, Mesh], Traffic]


def ring(axes: Iterable[AxisRef], mesh: Mesh, rounds: int, of_result: bool = False) -> Traffic:
    """`rounds` trips around a ring of n devices, in each of which a device sends (n - 1) / n of a tensor.

    The tensor is the local operand or, if `of_result`, the local result.
    """
    axes = tuple(axes)
    size = prod(axis.size(mesh) for axis in axes)
    share = Fraction(rounds * (size - 1), size)
    return Traffic(axes, size, Fraction(0), share) if of_result else Traffic(axes, size, share)


def _local(axes: Iterable[AxisRef], mesh: Mesh) -> Traffic:
    """No communication: each device computes its result from its own operand."""
    axes = tuple(axes)
    return Traffic(axes, prod(axis.size(mesh) for axis in axes), Fraction(0))


def _sdy_permute(
    op: sdy.CollectivePermuteOp, before: TensorSharding, mesh: Mesh, after_mesh: Mesh
) -> Traffic:
    after = op.out_sharding
    share = moved_share(before, mesh, after, after_mesh)
    changed = [
        axis
        for old, new in zip(before.dims, after.dims, strict=True)
        if old.axes != new.axes or mesh is not after_mesh
        for axis in (*old.axes, *new.axes)
    ]
    axes = tuple(AxisRef(axis.name) for axis in mesh.axes) if mesh is not after_mesh else tuple(changed)
    # An axis that one dimension loses to another one is named once.
    axes = normalized_axes(axes, mesh)
    size = prod(axis.size(mesh) for axis in axes)
    return Traffic(axes, size, None if share is None else Fraction(*share))


TRAFFIC: dict[type[sdy.CollectiveOp], TrafficOf] = {
    sdy.AllGatherOp: lambda op, _, mesh, __: ring(op.gathering_axes.axes, mesh, 1, of_result=True),
    sdy.AllReduceOp: lambda op, _, mesh, __: ring(op.reduction_axes, mesh, 2),
    sdy.AllSliceOp: lambda op, _, mesh, __: _local(op.slicing_axes.axes, mesh),
    sdy.AllToAllOp: lambda op, _, mesh, __: ring([a for move in op.params for a in move.axes], mesh, 1),
    sdy.CollectivePermuteOp: _sdy_permute,
    sdy.ReduceScatterOp: lambda op, _, mesh, __: ring(op.reduce_scatter_axes.axes, mesh, 1),
    sdy.ReplicatedToUnreducedOp: lambda op, _, mesh, __: _local(op.axes, mesh),
    sdy.ShardedToUnreducedOp: lambda op, _, mesh, __: _local(op.axes.axes, mesh),
}


def padded_size(size: int, shards: int) -> int:
    """The size of a dimension whose shards have equal sizes."""
    return -(-size // shards) * shards


def borders_differ(size: int, before: int, after: int) -> bool:
    """Whether a dimension has other borders between its shards after a collective, and is sharded both times.

    6 elements are 2+2+2+0 on four devices and 3+3 on two: no shard is made of shards of the other.
    """
    return before > 1 and after > 1 and padded_size(size, before) != padded_size(size, after)


def halo_elements(size: int, shards: int, padded: int) -> Fraction:
    """The elements that a device sends on average to give a dimension shards of `padded // shards` elements.

    The whole rest of the dimension if halos are not smaller.
    """
    if padded == padded_size(size, shards):
        return Fraction(0)
    new = padded // shards
    starts = [shard * new for shard in range(shards)]
    needed = [(start, min(start + new, size)) if start < size else None for start in starts]
    plan = plan_halo(Reads(padded_size(size, shards), starts, new, needed))
    if plan is None:
        return Fraction(padded_size(size, shards) * (shards - 1), shards)
    sent = sum((piece.end - piece.start) * len(piece.receivers) for piece in plan.pieces if piece.hop)
    return Fraction(sent, shards)


def normalized_axes(axes: Sequence[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """A set of axes in mesh order, with overlapping and adjacent sub-axes merged, as in totals by axes."""
    result: list[AxisRef] = []
    for axis in sorted(axes, key=lambda axis: mesh_order(axis, mesh)):
        last = result[-1] if result and result[-1].name == axis.name else None
        if last is None or last.next_pre_size(mesh) < axis.pre_size:
            result.append(axis)
        else:
            end = max(last.next_pre_size(mesh), axis.next_pre_size(mesh))
            result[-1] = sub_axis_between(axis.name, last.pre_size, end, mesh)
    return tuple(result)


def sub_axis_between(name: str, start: int, end: int, mesh: Mesh) -> AxisRef:
    """The sub-axis of pre-size `start` whose next pre-size is `end`; the axis itself if that is all of it."""
    is_whole = start == 1 and end == mesh.axis_size(name)
    return AxisRef(name) if is_whole else AxisRef(name, SubAxis(start, end // start))
