"""Device groups: which devices of a mesh take part in a collective together, and in which order.

A device is its coordinates, one per axis of the mesh. A collective names some axes. Devices that agree
on all *other* axes are a group, and the group is named by those coordinates, in the order of the mesh.
Within the group a device is named by its coordinates along the axes *of the collective*, in the order
in which the collective lists them; the group is ordered by these names, first listed axis outermost.

    mesh 2x3x2, axes [2, 0]: group (1,) is (0,1,0), (1,1,0), (0,1,1), (1,1,1)

Shapes must be static. `root`, `source` and `destination` of collectives are names within a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

Device = tuple[int, ...]
Index = tuple[int, ...]


def linear_index(shape: Sequence[int], index: Sequence[int]) -> int:
    """The number of a multi-index in row-major order: the last coordinate is the fastest."""
    number = 0
    for size, coordinate in zip(shape, index, strict=True):
        number = number * size + coordinate
    return number


def multi_index(shape: Sequence[int], number: int) -> Index:
    """The multi-index with this number: the inverse of `linear_index`."""
    coordinates = []
    for size in reversed(shape):
        number, coordinate = divmod(number, size)
        coordinates.append(coordinate)
    return tuple(reversed(coordinates))


def devices(shape: Sequence[int]) -> list[Device]:
    """All devices of a mesh, in row-major order."""
    return list(product(*map(range, shape)))


def group_size(shape: Sequence[int], axes: Sequence[int]) -> int:
    """How many devices there are in each group."""
    return prod(shape[axis] for axis in axes)


def group_of(device: Sequence[int], axes: Sequence[int]) -> Index:
    """The name of a device's group: its coordinates on all other axes, in the order of the mesh."""
    return tuple(coordinate for axis, coordinate in enumerate(device) if axis not in axes)


def index_in_group(device: Sequence[int], axes: Sequence[int]) -> Index:
    """The name of a device within its group: its coordinates on the axes, in the order of the list."""
    return tuple(device[axis] for axis in axes)


def position_in_group(shape: Sequence[int], device: Sequence[int], axes: Sequence[int]) -> int:
    """How many devices come before this one in its group."""
    return linear_index([shape[axis] for axis in axes], index_in_group(device, axes))


def device_in_group(axes: Sequence[int], group: Sequence[int], index: Sequence[int]) -> Device:
    """The device of a group that has this name within it."""
    along = dict(zip(axes, index, strict=True))
    others = iter(group)
    return tuple(along[axis] if axis in along else next(others) for axis in range(len(axes) + len(group)))


def devices_of_group(shape: Sequence[int], axes: Sequence[int], group: Sequence[int]) -> list[Device]:
    """The devices of a group, in the order of the group."""
    return [device_in_group(axes, group, index) for index in devices([shape[axis] for axis in axes])]


def groups(shape: Sequence[int], axes: Sequence[int]) -> list[Index]:
    """The names of all groups, in row-major order."""
    return devices([size for axis, size in enumerate(shape) if axis not in axes])


def devices_in_same_group(shape: Sequence[int], device: Sequence[int], axes: Sequence[int]) -> list[Device]:
    """All devices of a device's group, in the order of the group."""
    return devices_of_group(shape, axes, group_of(device, axes))
