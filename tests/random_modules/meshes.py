"""Random meshes and shardings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from random import Random

AXES = (("x", 2), ("y", 2), ("z", 4), ("w", 8), ("one", 1))


@dataclass(frozen=True)
class Mesh:
    """A mesh: axes with sizes, how shardings refer to it, and its definition if it has a name."""

    axes: tuple[tuple[str, int], ...]
    reference: str
    definition: str = ""
    # Whether it has a single device; its shardings have no dimensions.
    is_maximal: bool = False

    def size(self, axis: str) -> int:
        return dict(self.axes)[axis]

    def order(self, axis: AxisRef) -> tuple[int, int]:
        """The sort key of an axis in this mesh."""
        return [name for name, _ in self.axes].index(axis.axis), axis.pre_size


@dataclass(frozen=True)
class AxisRef:
    """An axis, or a sub-axis if it is not `whole`."""

    axis: str
    pre_size: int
    size: int
    whole: bool

    def __str__(self) -> str:
        return f'"{self.axis}"' if self.whole else f'"{self.axis}":({self.pre_size}){self.size}'

    def can_merge_with(self, other: AxisRef) -> bool:
        """Whether this axis followed by `other` must be written as one axis."""
        return self.axis == other.axis and self.pre_size * self.size == other.pre_size


def random_meshes(random: Random, axes_to_use: Sequence[tuple[str, int]] = AXES) -> list[Mesh]:
    """One to four meshes with names, of which two may be equal, and at most one inlined mesh."""
    meshes = []
    for name in random.sample(("mesh", "mesh_0", "other", "maximal_mesh_1"), random.randint(1, 3)):
        axes = _random_axes(random, axes_to_use)
        meshes.append(
            Mesh(axes, f"@{name}", f"sdy.mesh @{name} = {mesh_text(axes, _random_devices(random, axes))}")
        )
    if random.random() < 0.3:
        twin = meshes[0]
        meshes.append(Mesh(twin.axes, "@twin", twin.definition.replace(twin.reference, "@twin")))
    if random.random() < 0.4:
        axes = random.choice((meshes[0].axes, _random_axes(random, axes_to_use)))
        meshes.append(Mesh(axes, "mesh" + mesh_text(axes, _random_devices(random, axes))))
    return meshes


def _random_axes(random: Random, axes_to_use: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(random.sample(axes_to_use, random.randint(1, 3)))


def _random_devices(random: Random, axes: Sequence[tuple[str, int]]) -> list[int]:
    """The device ids in random order, or none, which is the default order."""
    count = prod(size for _, size in axes)
    return random.sample(range(count), count) if random.random() < 0.1 else []


def mesh_text(axes: Sequence[tuple[str, int]], devices: Sequence[int]) -> str:
    """The text of a mesh."""
    order = f", device_ids=[{', '.join(map(str, devices))}]" if devices else ""
    sizes = ", ".join(f'"{name}"={size}' for name, size in axes)
    return f"<[{sizes}]{order}>"


# --- Shardings ------------------------------------------------------------------------------------


@dataclass
class Sharding:
    """A mutable sharding: axes, openness and priority of each dimension, replicated and unreduced axes."""

    mesh: Mesh
    dims: list[list[AxisRef]]
    replicated: list[AxisRef]
    unreduced: list[AxisRef]
    is_open: list[bool]
    priorities: list[int | None]

    def __str__(self) -> str:
        dims = [
            _dimension(*dimension) for dimension in zip(self.dims, self.is_open, self.priorities, strict=True)
        ]
        others = (("replicated", self.replicated), ("unreduced", self.unreduced))
        named = "".join(f", {name}={{{_elements(axis_refs)}}}" for name, axis_refs in others if axis_refs)
        return f"<{self.mesh.reference}, [{', '.join(dims)}]{named}>"


def _dimension(axis_refs: list[AxisRef], is_open: bool, priority: int | None) -> str:
    inside = ", ".join([*map(str, axis_refs), *(["?"] if is_open else [])])
    # A closed dimension without axes must not have a priority.
    has_priority = priority is not None and (axis_refs or is_open)
    return f"{{{inside}}}" + (f"p{priority}" if has_priority else "")


def _elements(axis_refs: list[AxisRef]) -> str:
    return ", ".join(map(str, axis_refs))


def random_sharding(
    random: Random, mesh: Mesh, rank: int, taken: Collection[str], is_closed: bool | None = None
) -> Sharding:
    """A random sharding of a tensor that does not use the axes `taken`."""
    if mesh.is_maximal:
        return Sharding(mesh, [], [], [], [], [])
    if is_closed is None:
        is_closed = random.random() < 0.6
    result = Sharding(
        mesh,
        [[] for _ in range(rank)],
        [],
        [],
        [not is_closed and random.random() < 0.7 for _ in range(rank)],
        [random.choice((None, None, None, 0, 1, 2)) for _ in range(rank)],
    )
    axis_refs = [axis_ref for axis in mesh.axes if axis[0] not in taken for axis_ref in _split(random, *axis)]
    random.shuffle(axis_refs)
    for axis_ref in axis_refs:
        append_axis(
            random.choice([*result.dims, *result.dims, result.replicated, result.unreduced, []]), axis_ref
        )
    result.replicated = in_order(mesh, result.replicated)
    result.unreduced = in_order(mesh, result.unreduced)
    return result


def _split(random: Random, axis: str, size: int) -> list[AxisRef]:
    """An axis, or two sub-axes that it splits into."""
    if size < 4 or random.random() < 0.5:
        return [AxisRef(axis, 1, size, whole=True)]
    pre_size = random.choice([pre_size for pre_size in range(2, size) if size % pre_size == 0])
    return [AxisRef(axis, 1, pre_size, whole=False), AxisRef(axis, pre_size, size // pre_size, whole=False)]


def append_axis(axis_refs: list[AxisRef], axis_ref: AxisRef) -> None:
    """Appends an axis unless it would have to be merged with the last one."""
    if not axis_refs or not axis_refs[-1].can_merge_with(axis_ref):
        axis_refs.append(axis_ref)


def in_order(mesh: Mesh, axis_refs: list[AxisRef]) -> list[AxisRef]:
    """The axes in mesh order, without those that would have to be merged."""
    result: list[AxisRef] = []
    for axis_ref in sorted(axis_refs, key=mesh.order):
        append_axis(result, axis_ref)
    return result


def manual_sharding(
    random: Random, mesh: Mesh, shape: Sequence[int], manual: Sequence[str], taken: Collection[str]
) -> tuple[Sharding, tuple[int, ...]]:
    """A sharding of an operand of a manual computation, and the local shape in its body."""
    result = random_sharding(random, mesh, len(shape), {*taken, *manual})
    local = list(shape)
    for axis in random.sample(manual, len(manual)):
        for axis_ref in _split(random, axis, mesh.size(axis)):
            dim = random.randrange(len(shape)) if shape and random.random() < 0.7 else None
            if dim is not None and local[dim] % axis_ref.size == 0:
                _insert_manual_axis(result.dims[dim], axis_ref, manual)
                local[dim] = shape[dim] // prod(p.size for p in result.dims[dim] if p.axis in manual)
            elif random.random() < 0.3:
                result.replicated = in_order(mesh, [*result.replicated, axis_ref])
    # In the body, without manual axes, a closed dimension without other axes must not have a priority.
    for dim, axis_refs in enumerate(result.dims):
        if all(axis_ref.axis in manual for axis_ref in axis_refs) and not result.is_open[dim]:
            result.priorities[dim] = None
    return result, tuple(local)


def _insert_manual_axis(axis_refs: list[AxisRef], axis_ref: AxisRef, manual: Sequence[str]) -> None:
    """Inserts a manual axis after the other manual axes and before the free ones."""
    count = sum(1 for other in axis_refs if other.axis in manual)
    before = axis_refs[:count]
    append_axis(before, axis_ref)
    axis_refs[:count] = before
