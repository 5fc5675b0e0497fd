"""How the devices of a mesh lie on a machine, as `jax.make_mesh` orders them, and the links of each axis.

A slice of TPUs is a torus of chips, whose dimension wraps around where the slice has all of it. GPUs are in
nodes. An axis has one or several parts: so many steps along a dimension of the torus, within a node, between
nodes, between slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Final

from sdyopt.base.dataclasses import NamedTuple

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
