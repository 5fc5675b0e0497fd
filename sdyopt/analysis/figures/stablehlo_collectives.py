"""The traffic of StableHLO's collectives, in manual computations and in partitioned programs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import prod

from sdyopt.analysis.figures.mesh_layout import MAX_DEVICES
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
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
