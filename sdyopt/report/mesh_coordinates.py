"""The coordinates of devices in a mesh, and the shard of a tensor that each device has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.sharding import TensorSharding

# Devices are examined one by one up to this number; for more of them, the figure is unknown.
MAX_DEVICES = 1 << 16


def shard_index(axes: Sequence[AxisRef], coordinates: dict[str, int], mesh: Mesh) -> int:
    """The index of the shard that a device with these coordinates has of a dimension sharded along `axes`."""
    index = 0
    for axis in axes:
        size = axis.size(mesh)
        minor = mesh.axis_size(axis.name) // (axis.pre_size * size)
        index = index * size + coordinates[axis.name] // minor % size
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
    first, second = (_shards_by_device(s, m) for s, m in ((before, before_mesh), (after, after_mesh)))
    return sum(shard != second.get(device) for device, shard in first.items()), len(first)


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
        found = sum(map(len, ends.values()))
        for old, new in dims:
            for digits, others in ((old, new), (new, old)):
                if not _add_ends(digits, others, ends):
                    return None
        if sum(map(len, ends.values())) == found:
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


def _shards_by_device(sharding: TensorSharding, mesh: Mesh) -> dict[int, int]:
    """A number for the shard of each device, equal for equal shards of tensors of one shape."""
    shards = [0] * mesh.total_size
    strides = {}
    stride = mesh.total_size
    for mesh_axis in mesh.axes:
        stride //= mesh_axis.size
        strides[mesh_axis.name] = stride
    for dim in sharding.dims:
        # Each dimension has at most total_size shards, so dimensions do not overlap in the number.
        shards = [shard * mesh.total_size for shard in shards]
        weight = dim.sharded_size(mesh)
        for axis in dim.axes:
            size = axis.size(mesh)
            weight //= size
            minor = strides[axis.name] * (mesh.axis_size(axis.name) // (axis.pre_size * size))
            shards = [shard + p // minor % size * weight for p, shard in enumerate(shards)]
    return dict(zip(mesh.device_ids or range(mesh.total_size), shards, strict=True))
