"""The source and the target sharding of a reshard: independent, or related."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.random_modules.meshes import AxisRef, Mesh, Sharding, append_axis, in_order
from tests.random_reshards.meshes import is_maximal


def pair_of_shardings(random: Random, source: Mesh, target: Mesh, rank: int) -> tuple[Sharding, Sharding]:
    """A source and a target sharding of one tensor.

    If they are related, they use the same sub-axes or parts of these, or the target is the source with a few
    axes moved.
    """
    is_related = source.axes == target.axes and random.random() < 0.6
    axes = _split_axes(random, source)
    has_unreduced = random.random() < 0.1
    first = _sharding(random, source, rank, axes, has_unreduced)
    if not is_related:
        return first, _sharding(random, target, rank, _split_axes(random, target), has_unreduced)
    if random.random() < 0.5:
        axes = [part for axis in axes for part in _split(random, axis)]
        return first, _sharding(random, target, rank, axes, has_unreduced)
    return first, _shuffled(random, first, target)


def _sharding(
    random: Random, mesh: Mesh, rank: int, axes: Sequence[AxisRef], has_unreduced: bool
) -> Sharding:
    """A sharding that has some of these axes and sub-axes, in any order."""
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
    for axis in random.sample(axes, len(axes)):
        if random.random() < unused:
            _shard_no_dimension(random, result, axis, has_unreduced)
        elif rank:
            append_axis(random.choice(result.dims), axis)
    return _with_sorted_lists(result)


def _shard_no_dimension(random: Random, sharding: Sharding, axis: AxisRef, has_unreduced: bool) -> None:
    """Adds an axis to the unreduced axes, to the replicated axes, or to none."""
    drawn = random.random()
    if has_unreduced and drawn < 0.6:
        sharding.unreduced.append(axis)
    elif drawn > 0.8:
        sharding.replicated.append(axis)


def _with_sorted_lists(sharding: Sharding) -> Sharding:
    sharding.replicated = in_order(sharding.mesh, sharding.replicated)
    sharding.unreduced = in_order(sharding.mesh, sharding.unreduced)
    return sharding


def _shuffled(random: Random, sharding: Sharding, mesh: Mesh) -> Sharding:
    """A sharding with up to three axes moved to a dimension or dropped, and without replicated axes."""
    dims = [list(dim) for dim in sharding.dims]
    for _ in range(random.randint(0, 3)):
        filled = [dim for dim in dims if dim]
        if not filled:
            break
        dim = random.choice(filled)
        at = random.choice((-1, -1, 0, random.randrange(len(dim))))
        axis = dim.pop(at)
        if random.random() < 0.7:
            other = random.choice(dims)
            other.insert(random.choice((len(other), len(other), random.randint(0, len(other)))), axis)
    result = Sharding(mesh, [[] for _ in dims], [], [], [False] * len(dims), [None] * len(dims))
    for old, new in zip(dims, result.dims, strict=True):
        for axis in old:
            append_axis(new, axis)
    result.unreduced = sharding.unreduced
    return result


# --- Sub-axes -------------------------------------------------------------------------------------


def _split_axes(random: Random, mesh: Mesh) -> list[AxisRef]:
    """All axes of a mesh, some of them split into sub-axes."""
    return [part for name, size in mesh.axes for part in _split(random, AxisRef(name, 1, size, True))]


def _split(random: Random, axis: AxisRef) -> list[AxisRef]:
    """An axis or sub-axis itself, or two or three sub-axes that it consists of."""
    if random.random() < 0.5:
        return [axis]
    bounds = [1]
    for _ in range(random.randint(1, 2)):
        factors = [n for n in range(2, axis.size // bounds[-1]) if axis.size % (n * bounds[-1]) == 0]
        if factors:
            bounds.append(bounds[-1] * random.choice(factors))
    if len(bounds) == 1:
        return [axis]
    ends = [*bounds[1:], axis.size]
    return [
        AxisRef(axis.axis, axis.pre_size * start, end // start, False)
        for start, end in zip(bounds, ends, strict=True)
    ]
