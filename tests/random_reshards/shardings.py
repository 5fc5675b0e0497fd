"""The shardings before and after a reshard: independent, or one derived from the other."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.random_modules.meshes import AxisRef, Mesh, Sharding, append_axis, in_order
from tests.random_reshards.meshes import is_maximal


def pair_of_shardings(random: Random, source: Mesh, target: Mesh, rank: int) -> tuple[Sharding, Sharding]:
    """Shardings of one tensor with two meshes."""
    is_related = source.axes == target.axes and random.random() < 0.6
    pieces = _split_axes(random, source)
    has_unreduced = random.random() < 0.1
    first = _sharding(random, source, rank, pieces, has_unreduced)
    if not is_related:
        return first, _sharding(random, target, rank, _split_axes(random, target), has_unreduced)
    if random.random() < 0.5:
        pieces = [part for piece in pieces for part in _split_further(random, piece)]
        return first, _sharding(random, target, rank, pieces, has_unreduced)
    return first, _shuffled(random, first, target)


def _sharding(
    random: Random, mesh: Mesh, rank: int, pieces: Sequence[AxisRef], has_unreduced: bool
) -> Sharding:
    """A sharding that has some of these pieces, in any order."""
    if is_maximal(mesh):
        return Sharding(mesh, [], [], [], [], [])
    result = Sharding(
        mesh,
        [[] for _ in range(rank)],
        [],
        [],
        [random.random() < 0.1 for _ in range(rank)],
        [random.randrange(3) if random.random() < 0.05 else None for _ in range(rank)],
    )
    unused = random.choice((0.0, 0.2, 0.5))
    for piece in random.sample(pieces, len(pieces)):
        if random.random() < unused:
            _place_aside(random, result, piece, has_unreduced)
        elif rank:
            append_axis(random.choice(result.dims), piece)
    return _with_sorted_lists(result)


def _place_aside(random: Random, sharding: Sharding, piece: AxisRef, has_unreduced: bool) -> None:
    """Puts a piece of an axis where it shards no dimension."""
    drawn = random.random()
    if has_unreduced and drawn < 0.6:
        sharding.unreduced.append(piece)
    elif drawn > 0.8:
        sharding.replicated.append(piece)


def _with_sorted_lists(sharding: Sharding) -> Sharding:
    sharding.replicated = in_order(sharding.mesh, sharding.replicated)
    sharding.unreduced = in_order(sharding.mesh, sharding.unreduced)
    return sharding


def _shuffled(random: Random, sharding: Sharding, mesh: Mesh) -> Sharding:
    """A sharding with a few axes moved, swapped or dropped."""
    dims = [list(dim) for dim in sharding.dims]
    for _ in range(random.randint(0, 3)):
        filled = [dim for dim in dims if dim]
        if not filled:
            break
        dim = random.choice(filled)
        at = random.choice((-1, -1, 0, random.randrange(len(dim))))
        piece = dim.pop(at)
        if random.random() < 0.7:
            other = random.choice(dims)
            other.insert(random.choice((len(other), len(other), random.randint(0, len(other)))), piece)
    result = Sharding(mesh, [[] for _ in dims], [], [], [False] * len(dims), [None] * len(dims))
    for old, new in zip(dims, result.dims, strict=True):
        for piece in old:
            append_axis(new, piece)
    result.unreduced = sharding.unreduced
    return result


# --- Axes in pieces -------------------------------------------------------------------------------


def _split_axes(random: Random, mesh: Mesh) -> list[AxisRef]:
    """All axes of a mesh, some in pieces."""
    return [part for name, size in mesh.axes for part in _split_further(random, AxisRef(name, 1, size, True))]


def _split_further(random: Random, piece: AxisRef) -> list[AxisRef]:
    """A piece of an axis, or up to three pieces of it."""
    if random.random() < 0.5:
        return [piece]
    bounds = [1]
    for _ in range(random.randint(1, 2)):
        factors = [n for n in range(2, piece.size // bounds[-1]) if piece.size % (n * bounds[-1]) == 0]
        if factors:
            bounds.append(bounds[-1] * random.choice(factors))
    if len(bounds) == 1:
        return [piece]
    ends = [*bounds[1:], piece.size]
    return [
        AxisRef(piece.axis, piece.pre_size * start, end // start, False)
        for start, end in zip(bounds, ends, strict=True)
    ]
