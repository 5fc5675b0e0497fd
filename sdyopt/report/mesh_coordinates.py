"""Where devices stand in a mesh, and which shard of a tensor each of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.sharding import TensorSharding

# Device by device work stops here; a figure that would need more devices is unknown.
MAX_DEVICES = 1 << 16


def device_count(mesh: Mesh) -> int:
    """The number of devices of a mesh; 1 for a maximal mesh."""
    return mesh.total_size


def shard_index(axes: Sequence[AxisRef], coordinates: dict[str, int], mesh: Mesh) -> int:
    """The shard that a device with these coordinates has of a dimension sharded along `axes`."""
    index = 0
    for axis in axes:
        size = axis.size(mesh)
        minor = mesh.axis_size(axis.name) // (axis.pre_size * size)
        index = index * size + coordinates[axis.name] // minor % size
    return index


def all_coordinates(mesh: Mesh, names: Sequence[str]) -> Iterator[dict[str, int]]:
    """The coordinates along some axes, in row-major order."""
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
    """The fraction of devices, as (moved, of), whose shard after a permute is not the one before.

    Device d stands at the position of d in `device_ids`. None for more devices than `MAX_DEVICES`.
    """
    if before_mesh.device_ids == after_mesh.device_ids and before_mesh.axes == after_mesh.axes:
        names = _axis_names(before, after, before_mesh)
        if prod(before_mesh.axis_size(name) for name in names) > MAX_DEVICES:
            return None
        points = list(all_coordinates(before_mesh, names))
        moved = sum(
            _shards(before, point, before_mesh) != _shards(after, point, after_mesh) for point in points
        )
        return moved, len(points)
    if max(before_mesh.total_size, after_mesh.total_size) > MAX_DEVICES:
        return None
    first, second = (_shards_by_device(s, m) for s, m in ((before, before_mesh), (after, after_mesh)))
    return sum(first[device] != second.get(device) for device in first), len(first)


def _axis_names(before: TensorSharding, after: TensorSharding, mesh: Mesh) -> list[str]:
    """The axes that shard a dimension before or after, in mesh order."""
    used = {axis.name for sharding in (before, after) for dim in sharding.dims for axis in dim.axes}
    return [axis.name for axis in mesh.axes if axis.name in used]


def _shards(sharding: TensorSharding, coordinates: dict[str, int], mesh: Mesh) -> tuple[int, ...]:
    return tuple([shard_index(dim.axes, coordinates, mesh) for dim in sharding.dims])


def _shards_by_device(sharding: TensorSharding, mesh: Mesh) -> dict[int, tuple[int, ...]]:
    names = [axis.name for axis in mesh.axes]
    ids = mesh.device_ids or range(mesh.total_size)
    return {
        device: _shards(sharding, point, mesh)
        for device, point in zip(ids, all_coordinates(mesh, names), strict=True)
    }
