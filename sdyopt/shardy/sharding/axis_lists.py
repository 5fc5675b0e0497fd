"""Lists of axes: sharded sizes, prefixes and overlaps, and the shards and groups of devices along them.

A list is ordered major to minor. `"x", "y":(1)2` is a prefix of `"x", "y", "z"`: the last axis of a prefix
may be a major-most sub-axis of the axis at the same position.

The position of a device in the row-major order of a mesh is a number whose digits are its coordinates along
the axes. A sub-axis is a digit too. With "x"=2 and "y"=8, position 13 has x=1 and y=5. The sub-axis
"y":(1)2 has stride 4, and its digit is 13 // 4 % 2 = 1; "y":(2)4 has stride 1, and its digit is 13 % 4 = 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import prod
from struct import pack

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis, mesh
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef
from sdyopt.mlir.dialects.stablehlo import replica_groups as mesh_axes
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.builtin_attributes import dense
from sdyopt.mlir.ir.types import I64, tensor

Axes = tuple[AxisRef, ...]


def sharded_size(axes: Iterable[AxisRef], mesh: Mesh) -> int:
    """The product of the sizes of axes: the number of shards along them."""
    return prod([axis.size(mesh) for axis in axes])


def is_axis_prefix(axis: AxisRef, other: AxisRef) -> bool:
    """Whether `axis` is `other` or a major-most sub-axis of it."""
    return other.contains(axis) and axis.pre_size == other.pre_size


def is_prefix(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> bool:
    """Whether `first` is a prefix of `second`, or equal to it."""
    if not first:
        return True
    last = len(first) - 1
    return last < len(second) and first[:last] == second[:last] and is_axis_prefix(first[last], second[last])


def is_strict_prefix(first: Axes, second: Axes) -> bool:
    """Whether `first` is a prefix of `second`, and not equal to it."""
    return first != second and is_prefix(first, second)


def common_prefix(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> Axes:
    """The longest list that is a prefix of both."""
    common = []
    for axis, other in zip(first, second, strict=False):
        if axis is not other:
            if is_axis_prefix(axis, other):
                common.append(axis)
            elif is_axis_prefix(other, axis):
                common.append(other)
            break
        common.append(axis)
    return tuple(common)


def axes_after(prefix: Axes, axes: Axes) -> Axes:
    """The rest of `axes`, from the first axis that `prefix` does not contain at the same position.

    If `prefix` contains only a major-most sub-axis of this axis, the rest has the whole axis.
    """
    for position, axis in enumerate(axes):
        if position >= len(prefix) or not is_axis_prefix(axis, prefix[position]):
            return axes[position:]
    return ()


def prefix_without(axis: AxisRef, others: Iterable[AxisRef]) -> AxisRef | None:
    """The largest prefix of an axis that overlaps none of `others`; None if it is empty.

    None also if the axis cannot coexist with one of `others`.
    """
    prefix: AxisRef | None = axis
    for other in others:
        if prefix is None:
            return None
        if prefix.name == other.name:
            prefix = prefix.prefix_without_overlap(other)
    return prefix


def prefix_without_overlap(axes: Axes, others: Sequence[AxisRef]) -> Axes:
    """The longest prefix of a list that overlaps none of `others`."""
    names = {axis.name for axis in others}
    for position, axis in enumerate(axes):
        if axis.name not in names:
            continue
        prefix = prefix_without(axis, others)
        if prefix is not axis:
            return axes[:position] if prefix is None else (*axes[:position], prefix)
    return axes


def overlap(axes: Iterable[AxisRef], others: Sequence[AxisRef]) -> bool:
    """Whether an axis of one list overlaps an axis of the other."""
    return any(axis.overlaps(other) for axis in axes for other in others)


def major_sub_axis(axis: AxisRef, size: int) -> AxisRef:
    """The major-most sub-axis of a size that is smaller than the size of the axis."""
    return AxisRef(axis.name, SubAxis(axis.pre_size, size))


def split_axis(axis: AxisRef, major_size: int, size: int) -> tuple[AxisRef, AxisRef]:
    """Splits an axis of size `size` into its major-most sub-axis of size `major_size` and the rest."""
    minor = SubAxis(axis.pre_size * major_size, size // major_size)
    return major_sub_axis(axis, major_size), AxisRef(axis.name, minor)


def groups_by_axes(axes: Sequence[AxisRef], mesh_or_ref: MeshOrRef) -> mesh_axes.ReplicaGroupMeshAxes | None:
    """The groups of devices that differ along `axes` only; None if they cannot be given by axes.

    Before jaxlib 0.11.2, the axes of a named mesh are sdy attributes. All others are stablehlo attributes,
    which had to be full axes then.
    """
    refs: Sequence[Attribute]
    if isinstance(mesh_or_ref, Mesh) or Behavior.STABLEHLO_AXIS_REFS.active:
        if not Behavior.STABLEHLO_AXIS_REFS.active and any(axis.sub_axis is not None for axis in axes):
            return None
        refs = [_axis_ref(axis) for axis in axes]
    else:
        refs = axes
    group_mesh = stablehlo_mesh(mesh_or_ref) if isinstance(mesh_or_ref, Mesh) else mesh_or_ref
    return mesh_axes.ReplicaGroupMeshAxes(group_mesh, ArrayAttr(tuple(refs)))


def _axis_ref(axis: AxisRef) -> mesh_axes.AxisRef:
    """An axis or sub-axis as an attribute of the stablehlo dialect."""
    sub_axis = axis.sub_axis
    info = None if sub_axis is None else mesh_axes.SubAxisInfo(sub_axis.pre_size, sub_axis.size)
    return mesh_axes.AxisRef(axis.name, info)


def stablehlo_mesh(mesh: Mesh) -> mesh_axes.Mesh:
    """An sdy mesh as an attribute of the stablehlo dialect."""
    axes = tuple([mesh_axes.MeshAxis(axis.name, axis.size) for axis in mesh.axes])
    ids = mesh.device_ids
    return mesh_axes.Mesh(axes, dense(tensor((len(ids),), I64), pack(f"<{len(ids)}q", *ids)) if ids else None)


def sdy_mesh(groups: mesh_axes.Mesh) -> Mesh:
    """An attribute of the stablehlo dialect as an sdy mesh."""
    axes = [MeshAxis(axis.name, axis.size) for axis in groups.axes]
    return mesh(axes, () if groups.device_ids is None else integers_of(groups.device_ids))


def sdy_axis(axis: Attribute) -> AxisRef | None:
    """An axis of replica groups as an axis of shardings; None for any other attribute."""
    if not isinstance(axis, mesh_axes.AxisRef):
        return axis if isinstance(axis, AxisRef) else None
    part = axis.sub_axis_info
    return AxisRef(axis.name, None if part is None else SubAxis(part.pre_size, part.size))


# The number of devices up to which tables and groups are written out; `local_context` checks it.
MAX_DEVICES = 1 << 20


@cache
def shard_indices(axes: tuple[AxisRef, ...], mesh: Mesh) -> tuple[int, ...]:
    """The shard of each device, by device id, of a dimension that is sharded along `axes`."""
    digits = [digit_of(axis, mesh) for axis in axes]
    indices = [0] * mesh.total_size
    for position, device in enumerate(device_ids(mesh)):
        index = 0
        for stride, size in digits:
            index = index * size + position // stride % size
        indices[device] = index
    return tuple(indices)


def replica_groups(axes: Iterable[AxisRef], mesh: Mesh) -> list[list[int]]:
    """The groups of devices whose coordinates differ along `axes` only.

    Groups are ordered by position. The devices of a group are ordered by their shard along `axes`.
    """
    first_positions: Iterable[int] = range(mesh.total_size)
    offsets = [0]
    for stride, size in [digit_of(axis, mesh) for axis in axes]:
        first_positions = [p for p in first_positions if p // stride % size == 0]
        offsets = [offset + number * stride for offset in offsets for number in range(size)]
    ids = device_ids(mesh)
    return [[ids[position + offset] for offset in offsets] for position in first_positions]


def device_ids(mesh: Mesh) -> Sequence[int]:
    """The ids of the devices of a mesh, by position."""
    return mesh.device_ids or range(mesh.total_size)


def digit_of(axis: AxisRef, mesh: Mesh) -> tuple[int, int]:
    """The stride and the size of the digit of an axis in positions."""
    minor_axes = mesh.axes[mesh.axis_position(axis.name) + 1 :]
    return prod(minor.size for minor in minor_axes) * stride_in_axis(axis, mesh), axis.size(mesh)


def stride_in_axis(axis: AxisRef, mesh: Mesh) -> int:
    """The stride of the digit of a sub-axis in the coordinates along its axis; 1 for a whole axis."""
    return mesh.axis_size(axis.name) // axis.next_pre_size(mesh)
