"""The coordinates of devices in a mesh, and the shard of a tensor that each device has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod
from operator import ne

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.shardy.sharding.axis_lists import device_ids, stride_in_axis

# Devices are examined one by one up to this number; for more of them, the figure is unknown.
MAX_DEVICES = 1 << 14


def shard_index(axes: Sequence[AxisRef], coordinates: dict[str, int], mesh: Mesh) -> int:
    """The index of the shard that a device with these coordinates has of a dimension sharded along `axes`."""
    index = 0
    for axis in axes:
        size = axis.size(mesh)
        index = index * size + coordinates[axis.name] // stride_in_axis(axis, mesh) % size
    return index


def all_coordinates(mesh: Mesh, names: Sequence[str]) -> Iterator[dict[str, int]]:
    """All coordinates along these axes, in row-major order."""
    sizes = [mesh.axis_size(name) for name in names]
    for number in range(prod(sizes)):
        coordinates = {}
        for name, size in zip(reversed(names), reversed(sizes), strict=True):
            coordinates[name] = number % size
            number //= size
        yield coordinates


@lru_cache(maxsize=1024)
def moved_share(
    before: TensorSharding, before_mesh: Mesh, after: TensorSharding, after_mesh: Mesh
) -> tuple[int, int] | None:
    """The fraction of devices, as (moved, all), that have another shard after a permute than before it.

    None if each of more than `MAX_DEVICES` devices would have to be examined.
    """
    if before_mesh is after_mesh:
        kept = kept_count(before, after, before_mesh)
        if kept is not None:
            return before_mesh.total_size - kept, before_mesh.total_size
    if max(before_mesh.total_size, after_mesh.total_size) > MAX_DEVICES:
        return None
    first, second = _shards_by_position(before, before_mesh), _shards_by_position(after, after_mesh)
    if before_mesh.device_ids != after_mesh.device_ids or len(first) != len(second):
        of_device = dict(zip(device_ids(after_mesh), second, strict=True))
        second = [of_device.get(device, -1) for device in device_ids(before_mesh)]
    return sum(map(ne, first, second)), len(first)


# --- By arithmetic ------------------------------------------------------------------------------------

# A sub-axis or whole axis: (name, pre-size, size). The coordinate of a device along it is one digit.
_Digit = tuple[str, int, int]


def kept_count(before: TensorSharding, after: TensorSharding, mesh: Mesh) -> int | None:
    """The number of devices that have the same shard before and after, without examining each device.

    The index of a device's shard of a dimension is a number whose digits are the device's coordinates along
    the axes. If both shardings have digits of the same sizes, the shards are equal if the digits are: each
    set of digits that must be equal has one free value. None if the digits cannot be split so that their
    sizes are the same.
    """
    dims = [
        (_digits(old.axes, mesh), _digits(new.axes, mesh))
        for old, new in zip(before.dims, after.dims, strict=True)
    ]
    ends: dict[str, set[int]] = {}
    # Each digit is split until both shardings have digits of the same sizes, and those of one axis are equal
    # or do not overlap.
    while True:
        number = sum(map(len, ends.values()))
        for old, new in dims:
            for digits, others in ((old, new), (new, old)):
                if not _add_ends(digits, others, ends):
                    return None
        if sum(map(len, ends.values())) == number:
            break
    if any(end % start for of_axis in ends.values() for start, end in pairwise(sorted(of_axis))):
        return None
    same: dict[_Digit, _Digit] = {}
    for old, new in dims:
        split = [[part for digit in digits for part in _split(digit, ends)] for digits in (old, new)]
        if [size for _, _, size in split[0]] != [size for _, _, size in split[1]]:
            return None
        for one, other in zip(*split, strict=True):
            same[_representative(one, same)] = _representative(other, same)
    kept = mesh.total_size
    for digit in same:
        if _representative(digit, same) != digit:
            kept //= digit[2]
    return kept


def _digits(axes: Sequence[AxisRef], mesh: Mesh) -> list[_Digit]:
    return [(axis.name, axis.pre_size, axis.size(mesh)) for axis in axes]


def _add_ends(digits: Sequence[_Digit], others: Sequence[_Digit], ends: dict[str, set[int]]) -> bool:
    """Adds to `ends` the pre-sizes at which `digits` must be split so that they end where `others` end.

    False if a digit cannot be split so.
    """
    boundaries = {1}
    position = 1
    for digit in others:
        for _, _, size in _split(digit, ends):
            position *= size
            boundaries.add(position)
    position = 1
    for name, pre, size in digits:
        own = ends.setdefault(name, set())
        own |= {pre, pre * size}
        for boundary in boundaries:
            if position < boundary < position * size:
                if boundary % position or size % (boundary // position):
                    return False
                own.add(pre * (boundary // position))
        position *= size
    return True


def _split(digit: _Digit, ends: dict[str, set[int]]) -> list[_Digit]:
    """The digits into which the ends on its axis split a digit."""
    name, pre, size = digit
    inside = sorted({pre, pre * size, *(end for end in ends.get(name, ()) if pre < end < pre * size)})
    return [(name, start, end // start) for start, end in pairwise(inside)]


def _representative(digit: _Digit, same: dict[_Digit, _Digit]) -> _Digit:
    """The digit that represents all digits that must equal this one."""
    while same.setdefault(digit, digit) != digit:
        digit = same[digit]
    return digit


# --- Device by device ---------------------------------------------------------------------------------


def _shards_by_position(sharding: TensorSharding, mesh: Mesh) -> list[int]:
    """A number for the shard of each device of a mesh, equal for equal shards of tensors of one shape."""
    # For each axis, the parts of the number that its coordinates decide: (minor size, size, weight).
    parts: dict[str, list[tuple[int, int, int]]] = {axis.name: [] for axis in mesh.axes}
    # Each dimension has at most total_size shards, so dimensions do not overlap in the number.
    scale = 1
    for dim in sharding.dims:
        weight = dim.sharded_size(mesh) * scale
        for axis in dim.axes:
            size = axis.size(mesh)
            weight //= size
            parts[axis.name].append((stride_in_axis(axis, mesh), size, weight))
        scale *= mesh.total_size
    shards = [0]
    for mesh_axis in mesh.axes:
        of_axis = [0] * mesh_axis.size
        for minor, size, weight in parts[mesh_axis.name]:
            of_axis = [part + at // minor % size * weight for at, part in enumerate(of_axis)]
        shards = [shard + part for shard in shards for part in of_axis]
    return shards
