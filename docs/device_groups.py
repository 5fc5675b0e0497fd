"""Device groups: the sets of devices within which a collective communicates, and their order.

A device is identified by its multi-index in the mesh. A collective lists mesh axes. Devices with equal
indices along all *other* axes form a group, which is identified by those indices in mesh order. Within
its group, a device is identified by its indices along the axes *of the collective*, in the listed order.
A group is ordered by these in-group indices, the first listed axis major-most.

    mesh 2x3x2, axes [2, 0]: group (1,) is (0,1,0), (1,1,0), (0,1,1), (1,1,1)

The mesh shape must be static. `root`, `source` and `destination` of collectives are in-group indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

Index = tuple[int, ...]
Device = Index
Group = Index


def linear_index(shape: Sequence[int], index: Sequence[int]) -> int:
    """The linear index of a multi-index in row-major order."""
    linear = 0
    for size, coordinate in zip(shape, index, strict=True):
        linear = linear * size + coordinate
    return linear


def multi_index(shape: Sequence[int], linear: int) -> Index:
    """The multi-index of a linear index: the inverse of `linear_index`."""
    coordinates = []
    for size in reversed(shape):
        linear, coordinate = divmod(linear, size)
        coordinates.append(coordinate)
    return tuple(reversed(coordinates))


def multi_indices(shape: Sequence[int]) -> list[Index]:
    """All multi-indices of a shape, in row-major order: for a mesh shape, its devices."""
    return list(product(*map(range, shape)))


def group_size(shape: Sequence[int], axes: Sequence[int]) -> int:
    """The number of devices in each group."""
    return prod(shape[axis] for axis in axes)


def group_of(device: Sequence[int], axes: Sequence[int]) -> Group:
    """The group of a device: its indices along all other axes, in mesh order."""
    return tuple(coordinate for axis, coordinate in enumerate(device) if axis not in axes)


def index_in_group(device: Sequence[int], axes: Sequence[int]) -> Index:
    """The in-group index of a device: its indices along the axes, in the listed order."""
    return tuple(device[axis] for axis in axes)


def linear_index_in_group(shape: Sequence[int], device: Sequence[int], axes: Sequence[int]) -> int:
    """The linear index of a device in the order of its group."""
    return linear_index([shape[axis] for axis in axes], index_in_group(device, axes))


def device_in_group(axes: Sequence[int], group: Sequence[int], index: Sequence[int]) -> Device:
    """The device of a group with this in-group index."""
    in_group = dict(zip(axes, index, strict=True))
    others = iter(group)
    return tuple(
        in_group[axis] if axis in in_group else next(others) for axis in range(len(axes) + len(group))
    )


def devices_of_group(shape: Sequence[int], axes: Sequence[int], group: Sequence[int]) -> list[Device]:
    """The devices of a group, in the order of the group."""
    return [device_in_group(axes, group, index) for index in multi_indices([shape[axis] for axis in axes])]


def groups(shape: Sequence[int], axes: Sequence[int]) -> list[Group]:
    """All groups, in row-major order."""
    return multi_indices([size for axis, size in enumerate(shape) if axis not in axes])


def devices_in_same_group(shape: Sequence[int], device: Sequence[int], axes: Sequence[int]) -> list[Device]:
    """The devices of a device's group, in the order of the group."""
    return devices_of_group(shape, axes, group_of(device, axes))
