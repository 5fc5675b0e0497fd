"""Random meshes, and shardings over them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from random import Random

AXES = (("x", 2), ("y", 2), ("z", 4), ("w", 8), ("one", 1))


@dataclass(frozen=True)
class Mesh:
    """Axes with their sizes; how shardings speak of it; and how it is defined, if it has a name."""

    axes: tuple[tuple[str, int], ...]
    reference: str
    definition: str = ""
    # Of one device, as a sharding says without dimensions.
    is_maximal: bool = False

    def size(self, axis: str) -> int:
        return dict(self.axes)[axis]

    def order(self, piece: AxisRef) -> tuple[int, int]:
        return [name for name, _ in self.axes].index(piece.axis), piece.pre_size


@dataclass(frozen=True)
class AxisRef:
    """An axis, or a sub-axis if it is not `whole`."""

    axis: str
    pre_size: int
    size: int
    whole: bool

    def __str__(self) -> str:
        return f'"{self.axis}"' if self.whole else f'"{self.axis}":({self.pre_size}){self.size}'

    def goes_on_with(self, other: AxisRef) -> bool:
        """Whether the two would have to be written as one."""
        return self.axis == other.axis and self.pre_size * self.size == other.pre_size


def random_meshes(random: Random, known: Sequence[tuple[str, int]] = AXES) -> list[Mesh]:
    """A few meshes with names, among them equal ones, and a few that stand in the shardings themselves."""
    meshes = []
    for name in random.sample(("mesh", "mesh_0", "other", "maximal_mesh_1"), random.randint(1, 3)):
        axes = _random_axes(random, known)
        meshes.append(
            Mesh(axes, f"@{name}", f"sdy.mesh @{name} = {mesh_text(axes, _random_devices(random, axes))}")
        )
    if random.random() < 0.3:
        twin = meshes[0]
        meshes.append(Mesh(twin.axes, "@twin", twin.definition.replace(twin.reference, "@twin")))
    if random.random() < 0.4:
        axes = random.choice((meshes[0].axes, _random_axes(random, known)))
        meshes.append(Mesh(axes, "mesh" + mesh_text(axes, _random_devices(random, axes))))
    return meshes


def _random_axes(random: Random, known: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(random.sample(known, random.randint(1, 3)))


def _random_devices(random: Random, axes: Sequence[tuple[str, int]]) -> list[int]:
    """The devices, in an order of their own; usually empty, which is the usual order."""
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
    """A sharding while it is being made: pieces per dimension, and the rest."""

    mesh: Mesh
    dims: list[list[AxisRef]]
    replicated: list[AxisRef]
    unreduced: list[AxisRef]
    is_open: list[bool]
    priorities: list[int | None]

    def __str__(self) -> str:
        dims = [_dimension(*parts) for parts in zip(self.dims, self.is_open, self.priorities, strict=True)]
        others = (("replicated", self.replicated), ("unreduced", self.unreduced))
        named = "".join(f", {name}={{{_elements(pieces)}}}" for name, pieces in others if pieces)
        return f"<{self.mesh.reference}, [{', '.join(dims)}]{named}>"


def _dimension(pieces: list[AxisRef], is_open: bool, priority: int | None) -> str:
    inside = ", ".join([*map(str, pieces), *(["?"] if is_open else [])])
    # A closed dimension without axes may not have a priority.
    has_priority = priority is not None and (pieces or is_open)
    return f"{{{inside}}}" + (f"p{priority}" if has_priority else "")


def _elements(pieces: list[AxisRef]) -> str:
    return ", ".join(map(str, pieces))


def random_sharding(
    random: Random, mesh: Mesh, rank: int, taken: Collection[str], is_closed: bool | None = None
) -> Sharding:
    """A sharding of a tensor without the axes that are `taken`."""
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
    pieces = [piece for axis in mesh.axes if axis[0] not in taken for piece in _split(random, *axis)]
    random.shuffle(pieces)
    for piece in pieces:
        append_axis(
            random.choice([*result.dims, *result.dims, result.replicated, result.unreduced, []]), piece
        )
    result.replicated = in_order(mesh, result.replicated)
    result.unreduced = in_order(mesh, result.unreduced)
    return result


def _split(random: Random, axis: str, size: int) -> list[AxisRef]:
    """An axis, or the sub-axes that it is made of."""
    if size < 4 or random.random() < 0.5:
        return [AxisRef(axis, 1, size, whole=True)]
    cut = random.choice([cut for cut in range(2, size) if size % cut == 0])
    return [AxisRef(axis, 1, cut, whole=False), AxisRef(axis, cut, size // cut, whole=False)]


def append_axis(pieces: list[AxisRef], piece: AxisRef) -> None:
    if not pieces or not pieces[-1].goes_on_with(piece):
        pieces.append(piece)


def in_order(mesh: Mesh, pieces: list[AxisRef]) -> list[AxisRef]:
    result: list[AxisRef] = []
    for piece in sorted(pieces, key=mesh.order):
        append_axis(result, piece)
    return result


def manual_sharding(
    random: Random, mesh: Mesh, shape: Sequence[int], manual: Sequence[str], taken: Collection[str]
) -> tuple[Sharding, tuple[int, ...]]:
    """A sharding for a manual computation, and the shape that a tensor of this shape has inside."""
    result = random_sharding(random, mesh, len(shape), {*taken, *manual})
    local = list(shape)
    for axis in random.sample(manual, len(manual)):
        for piece in _split(random, axis, mesh.size(axis)):
            dim = random.randrange(len(shape)) if shape and random.random() < 0.7 else None
            if dim is not None and local[dim] % piece.size == 0:
                _place_manual(result.dims[dim], piece, manual)
                local[dim] = shape[dim] // prod(p.size for p in result.dims[dim] if p.axis in manual)
            elif random.random() < 0.3:
                result.replicated = in_order(mesh, [*result.replicated, piece])
    # Inside, where the manual axes are gone, a closed dimension without others may not have a priority.
    for dim, pieces in enumerate(result.dims):
        if all(piece.axis in manual for piece in pieces) and not result.is_open[dim]:
            result.priorities[dim] = None
    return result, tuple(local)


def _place_manual(pieces: list[AxisRef], piece: AxisRef, manual: Sequence[str]) -> None:
    """Puts a piece of a manual axis behind the others and before the pieces of free axes."""
    count = sum(1 for other in pieces if other.axis in manual)
    before = pieces[:count]
    append_axis(before, piece)
    pieces[:count] = before
