"""The shardings through which XLA's SPMD partitioner reshards a tensor.

    [{"x"}, {"y"}]  →  [{"x", "y"}, {"z"}]    by [{}, {}]: the tensor is gathered, then sliced
    [{"x"}, {}]  →  [{}, {"y"}]               by [{}, {"x"}]: an all-to-all, then a permute

The partitioner compares numbers of shards of dimensions, and only then devices. If the numbers are equal, it
permutes the shards; if they are the same in other dimensions, it exchanges them by all-to-alls, and permutes
the result; if all of one side are multiples of those of the other, it slices or gathers, as Shardy does.
Dimensions with equal numbers keep their shards. In all others it gathers the whole tensor and slices it: what
it reports as "involuntary full rematerialization".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from sdyopt.mlir.dialects.sdy.axes import with_axes
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.shardy.sharding.axis_lists import Axes, is_prefix, major_sub_axis, overlap, split_axis
from sdyopt.shardy.sharding.reshard_to_collectives.plan import Plan, plan_collectives

_Dims = list[Axes]


def plan_as_partitioner(
    shape: Sequence[int],
    source: TensorSharding,
    target: TensorSharding,
    mesh: Mesh,
    moves_borders: bool = False,
) -> Plan:
    """The collectives of XLA from one sharding to another; those of Shardy where axes cannot be split so."""
    steps: Plan = ()
    before = source
    for dims in _waypoints(_dims(source, mesh), _dims(target, mesh), mesh):
        after = target.with_dims([DimensionSharding(axes) for axes in dims])
        after = TensorSharding(source.mesh_or_ref, after.dims, (), after.unreduced_axes, after.reduction)
        steps += plan_collectives(shape, before, after, mesh, moves_borders)
        before = after
    return steps + plan_collectives(shape, before, target, mesh, moves_borders)


def _dims(sharding: TensorSharding, mesh: Mesh) -> _Dims:
    return [tuple([axis for axis in dim.axes if axis.size(mesh) > 1]) for dim in sharding.dims]


def _size(axes: Axes, mesh: Mesh) -> int:
    return prod([axis.size(mesh) for axis in axes])


def _waypoints(source: _Dims, target: _Dims, mesh: Mesh) -> Iterator[_Dims]:
    """The shardings between two."""
    before, after = [_size(axes, mesh) for axes in source], [_size(axes, mesh) for axes in target]
    if before == after or prod(before) == 1 or prod(after) == 1:
        return
    if prod(before) == prod(after) and (exchanged := _exchanged(source, before, after, mesh)) is not None:
        yield exchanged
        return
    pairs = list(zip(before, after, strict=True))
    if all(new % old == 0 for old, new in pairs) or all(old % new == 0 for old, new in pairs):
        return
    equal = [old == new > 1 for old, new in zip(before, after, strict=True)]
    if any(equal):
        # The dimensions with equal numbers keep their axes, so that only the others are gathered.
        kept = [axes if is_equal else () for axes, is_equal in zip(source, equal, strict=True)]
        inner = [axes if is_equal else new for axes, new, is_equal in zip(source, target, equal, strict=True)]
        used = [axis for axes in kept for axis in axes]
        if not any(overlap(axes, used) for axes, is_equal in zip(inner, equal, strict=True) if not is_equal):
            yield kept
            yield inner
            return
    yield [()] * len(source)


def _exchanged(source: _Dims, before: list[int], after: list[int], mesh: Mesh) -> _Dims | None:
    """The sharding after all-to-alls that give each dimension its number of shards; None if none can."""
    found = list(source)
    giving = [dim for dim in range(len(before)) if before[dim] > after[dim]]
    taking = [dim for dim in range(len(before)) if before[dim] < after[dim]]
    for dim in giving:
        if before[dim] % after[dim]:
            return None
        factor = before[dim] // after[dim]
        other = next((each for each in taking if after[each] == before[each] * factor), None)
        kept = _prefix(found[dim], after[dim], mesh)
        if other is None or kept is None:
            return None
        taking.remove(other)
        moved = _rest(found[dim], kept, mesh)
        found[dim], found[other] = kept, with_axes(found[other], moved, mesh)
    return found


def _prefix(axes: Axes, size: int, mesh: Mesh) -> Axes | None:
    """The prefix of a list with this sharded size; None if there is none."""
    result: Axes = ()
    for axis in axes:
        if size == 1:
            break
        if size % axis.size(mesh) == 0:
            result = (*result, axis)
            size //= axis.size(mesh)
        elif axis.size(mesh) % size == 0:
            return (*result, major_sub_axis(axis, size))
        else:
            return None
    return result if size == 1 else None


def _rest(axes: Axes, prefix: Axes, mesh: Mesh) -> Axes:
    """The items after a prefix of a list."""
    assert is_prefix(prefix, axes)
    if not prefix:
        return axes
    count = len(prefix)
    if prefix[-1] is axes[count - 1]:
        return axes[count:]
    axis = axes[count - 1]
    _, minor = split_axis(axis, prefix[-1].size(mesh), axis.size(mesh))
    return (minor, *axes[count:])
