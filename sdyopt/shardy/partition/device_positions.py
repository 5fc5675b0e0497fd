"""Devices of a mesh: the shard that each of them has, and groups of devices along axes.

The position of a device in the row-major order of a mesh is a number whose digits are its coordinates along
the axes. A sub-axis is a digit too. With "x"=2 and "y"=8, position 13 has x=1 and y=5. The sub-axis
"y":(1)2 has stride 4, and its digit is 13 // 4 % 2 = 1; "y":(2)4 has stride 1, and its digit is 13 % 4 = 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import prod

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh

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
