"""The devices of a mesh: their coordinates and shards, how they lie on a machine, and the links of each axis.

A slice of TPUs is a torus of chips, whose dimension wraps around where the slice has all of it. GPUs are in
nodes. An axis has one or several parts: so many steps along a dimension of the torus, within a node, between
nodes, between slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import combinations, pairwise, product
from math import prod
from operator import ne
from typing import Final

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.shardy.sharding.axis_lists import device_ids, stride_in_axis

# Dimensions of a machine that are none of its torus.
CORE: Final = "the cores of a chip"
NODE: Final = "a node"
NETWORK: Final = "the network"
SLICES: Final = "slices"
_TORUS = ("x", "y", "z")

# Meshes of so few devices are laid along a ring through the chips, one dimension after the other.
_RINGS = {"v5e": (4, 8), "v6e": (4, 8), "v5p": (8,), "v7x": (8, 16, 24, 32)}


class AxisPart(NamedTuple):
    """`size` devices of an axis along a dimension, `stride` apart, of `whole` in all.

    `wraps`: the dimension is a ring.
    """

    dimension: str
    size: int
    stride: int
    whole: int
    wraps: bool

    @property
    def is_torus(self) -> bool:
        return self.dimension in _TORUS

    def __str__(self) -> str:
        if not self.is_torus:
            return f"{self.dimension} ({self.size})"
        apart = f", {self.stride} apart" if self.stride > 1 else ""
        if self.size < self.whole:
            return f"{self.dimension} ({self.size} of {self.whole}{apart})"
        return f"{self.dimension} ({self.size}{', a ring' if self.wraps else ''})"


class Layout:
    """The parts of each axis of a mesh, the minor-most first."""

    def __init__(self, parts: dict[str, tuple[AxisPart, ...]]) -> None:
        self.parts = parts

    def parts_along(self, axes: Iterable[str], group_size: int | None = None) -> list[AxisPart]:
        """The parts of a group along these axes, one for each dimension; those of sub-axes if it is smaller.

        The stride is that of the smallest steps.
        """
        names = [axis for axis in self.parts if axis in set(axes)]
        left = group_size or prod(part.size for name in names for part in self.parts[name])
        merged: dict[str, AxisPart] = {}
        for name in reversed(names):
            for part in self.parts[name]:
                size = min(part.size, left)
                if size <= 1:
                    continue
                left //= size
                if (other := merged.get(part.dimension)) is not None:
                    size *= other.size
                    part = part._replace(stride=min(part.stride, other.stride))
                merged[part.dimension] = part._replace(size=size)
        return list(merged.values())

    @cached_property
    def texts(self) -> dict[str, str]:
        """What each axis is laid on."""
        return {name: " and ".join(map(str, parts)) for name, parts in self.parts.items() if parts}


def lay_out_on_nodes(sizes: dict[str, int], node: int) -> Layout:
    """GPUs in their order: the last axes of the mesh are within a node."""
    parts: dict[str, tuple[AxisPart, ...]] = {}
    stride = 1
    for name, size in reversed(sizes.items()):
        within = min(size, max(1, node // stride))
        result = [AxisPart(NODE, within, stride, node, wraps=False)] if within > 1 else []
        if (between := -(-size // within)) > 1:
            result.append(AxisPart(NETWORK, between, max(1, stride * within // node), between, wraps=False))
        parts[name] = tuple(result)
        stride *= size
    return Layout(_in_order(parts, sizes))


def lay_out_on_torus(
    sizes: dict[str, int], kind: str, shape: Sequence[int], slices: int, cores: int, wrap: int
) -> Layout:
    """TPUs: the first axes are between slices; the others lie on the torus as `jax.make_mesh` lays them."""
    dimensions = dict(zip(_TORUS, shape, strict=False))
    names = list(sizes)
    left, between, rest = slices, {}, []
    for name in names:
        share = _common(left, sizes[name])
        between[name] = share
        left //= share
        rest.append(sizes[name] // share)
    if cores > 1:
        dimensions[CORE] = cores
    if prod(rest) != prod(dimensions.values()):
        # Fewer devices than the slice has: the first of them.
        dimensions = _first(dimensions, prod(rest))
    assigned = _assigned(rest, dimensions, kind)
    # Three-dimensional slices wrap around if they are of whole cubes.
    is_closed = len(shape) < len(_TORUS) or all(size % wrap == 0 for size in shape)
    used = dict.fromkeys(dimensions, 1)
    parts: dict[str, tuple[AxisPart, ...]] = {}
    for name, along in reversed(list(zip(names, assigned, strict=True))):
        result = []
        for dimension, size in along.items():
            if size > 1:
                whole = dimensions[dimension]
                wraps = dimension in _TORUS and is_closed and whole % wrap == 0
                result.append(AxisPart(dimension, size, used[dimension], whole, wraps))
                used[dimension] *= size
        if between[name] > 1:
            result.append(AxisPart(SLICES, between[name], 1, between[name], wraps=False))
        parts[name] = tuple(result)
    return Layout(_in_order(parts, sizes))


def _in_order(
    parts: dict[str, tuple[AxisPart, ...]], sizes: dict[str, int]
) -> dict[str, tuple[AxisPart, ...]]:
    return {name: parts[name] for name in sizes}


def _common(left: int, size: int) -> int:
    """The largest number of slices that an axis of this size may have a part of."""
    return max(share for share in range(1, min(left, size) + 1) if left % share == 0 and size % share == 0)


def _first(dimensions: dict[str, int], devices: int) -> dict[str, int]:
    """The dimensions of the first devices of a slice, in the order core, x, y, z."""
    left, first = devices, dict.fromkeys(dimensions, 1)
    for name in (CORE, *_TORUS):
        if name in dimensions:
            first[name] = min(dimensions[name], left)
            left = -(-left // first[name])
    return first


def _assigned(sizes: Sequence[int], dimensions: dict[str, int], kind: str) -> list[dict[str, int]]:
    """The size of each axis along each dimension."""
    if prod(sizes) in _RINGS.get(kind, ()) and max(dimensions.values()) <= 4:
        return _one_after_the_other(sizes, dimensions)
    return _whole_dimensions(sizes, dimensions) or _split_dimensions(sizes, dimensions)


def _one_after_the_other(sizes: Sequence[int], dimensions: dict[str, int]) -> list[dict[str, int]]:
    order = [name for name in (CORE, *_TORUS) if name in dimensions]
    free = {name: dimensions[name] for name in order}
    numbering: list[dict[str, int]] = []
    for size in reversed(sizes):
        along: dict[str, int] = {}
        for name in order:
            share = _common(free[name], size)
            if share > 1:
                along[name] = share
                free[name] //= share
                size //= share
        numbering.append(along)
    return numbering[::-1]


def _whole_dimensions(sizes: Sequence[int], dimensions: dict[str, int]) -> list[dict[str, int]] | None:
    """Each axis along as many whole dimensions as possible, the last axis first; None if there are none."""
    free = list(dimensions)
    numbering: list[dict[str, int]] = []
    # The two cores of a chip are the closest.
    free.sort(key=lambda name: name != CORE)
    for size in reversed(sizes):
        if size == 1:
            numbering.append({})
            continue
        candidates = (
            names
            for number in range(len(free), 0, -1)
            for names in combinations(free, number)
            if prod(dimensions[name] for name in names) == size
        )
        names = next(candidates, None)
        if names is None:
            return None
        numbering.append({name: dimensions[name] for name in reversed(names)})
        free = [name for name in free if name not in names]
    return numbering[::-1]


def _split_dimensions(sizes: Sequence[int], dimensions: dict[str, int]) -> list[dict[str, int]]:
    """Each axis along as much of whole dimensions as possible, then along few dimensions."""
    free = dict(dimensions)
    numbering: list[dict[str, int]] = []
    for size in reversed(sizes):
        shares = [[share for share in range(1, left + 1) if left % share == 0] for left in free.values()]
        options = [
            dict(zip(free, option, strict=True)) for option in product(*shares) if prod(option) == size
        ]
        # What does not divide the machine is along what is left.
        options = options or [free]
        best = max(options, key=lambda option: _preference(option, dimensions, free))
        free = {name: left // best[name] for name, left in free.items()}
        numbering.append(dict(reversed(best.items())))
    return numbering[::-1]


def _preference(
    option: dict[str, int], dimensions: dict[str, int], free: dict[str, int]
) -> tuple[int, int, int, tuple[int, ...]]:
    """Whole dimensions, many of them, and dimensions that other axes are along already."""
    whole = [size for name, size in option.items() if size == dimensions[name]]
    shared = prod(size for name, size in option.items() if free[name] < dimensions[name])
    return prod(whole), sum(size > 1 for size in whole), shared, tuple(option.values())


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
