"""The shardings through which XLA's SPMD partitioner reshards a tensor.

    [{"x"}, {"y"}]  →  [{"x", "y"}, {"z"}]    by [{}, {}]: the tensor is gathered, then sliced
    [{"x"}, {}]  →  [{}, {"y"}]               by [{}, {"x"}]: an all-to-all, then a permute

The partitioner compares numbers of shards of dimensions, and only then devices. If the numbers are equal, it
permutes the shards; if they are the same in other dimensions, it exchanges them by all-to-alls, and permutes
the result; if all of one side are multiples of those of the other, it slices or gathers, as Shardy does. A
tensor that is on all devices afterwards may be sliced before it is exchanged, and a dimension may be gathered
before if that leaves as many shards as there are afterwards. Otherwise dimensions with equal numbers keep
their shards, and the partitioner gathers all others and slices them: what it reports as "involuntary full
rematerialization".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.mlir.dialects.sdy.axes import AxisRef, with_axes
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


def _sizes(dims: _Dims, mesh: Mesh) -> list[int]:
    return [_size(axes, mesh) for axes in dims]


def _waypoints(source: _Dims, target: _Dims, mesh: Mesh) -> list[_Dims]:
    """The shardings between two."""
    before, after = _sizes(source, mesh), _sizes(target, mesh)
    if prod(before) == 1 or prod(after) == 1:
        return []
    steps = _direct_steps(source, target, mesh)
    if steps is None:
        gathered = _gathered_dimension(source, before, after)
        rest = None if gathered is None else _direct_steps(gathered, target, mesh)
        if gathered is not None and rest is not None:
            steps = [gathered, *rest]
    if steps is not None:
        return steps
    # The dimensions with equal numbers keep their axes, so that only the others are gathered.
    equal = [old == new > 1 for old, new in zip(before, after, strict=True)]
    if any(equal):
        kept = [axes if is_equal else () for axes, is_equal in zip(source, equal, strict=True)]
        inner = _sharded_further(kept, target, after, mesh)
        return [kept] if inner is None else [kept, inner]
    return [[()] * len(source)]


def _direct_steps(source: _Dims, target: _Dims, mesh: Mesh) -> list[_Dims] | None:
    """The shardings between two for which nothing has to be gathered first; None if something has."""
    before, after = _sizes(source, mesh), _sizes(target, mesh)
    pairs = list(zip(before, after, strict=True))
    if before == after:
        return []
    if prod(before) == prod(after) and (exchanged := _exchanged(source, before, after, mesh)) is not None:
        return exchanged
    if all(new % old == 0 for old, new in pairs) or all(old % new == 0 for old, new in pairs):
        return []
    # If the target is on all devices, slices that need no communication come first.
    if prod(before) < prod(after) == mesh.total_size:
        further = prod(after) // prod(before)
        for dim, (old, new) in enumerate(pairs):
            if new == old * further or (old == 1 and new % further == 0):
                sizes = [*before[:dim], old * further, *before[dim + 1 :]]
                sliced = _sharded_further(source, target, sizes, mesh)
                exchanged = None if sliced is None else _exchanged(sliced, sizes, after, mesh)
                return None if sliced is None or exchanged is None else [sliced, *exchanged]
    return None


def _gathered_dimension(source: _Dims, before: list[int], after: list[int]) -> _Dims | None:
    """The source without the axes of the first dimension that leaves as many shards as the target has."""
    for dim, size in enumerate(before):
        if size > 1 and size * prod(after) == prod(before):
            return [*source[:dim], (), *source[dim + 1 :]]
    return None


def _sharded_further(source: _Dims, target: _Dims, sizes: list[int], mesh: Mesh) -> _Dims | None:
    """The source with further axes, those of the target if they are unused; None if too few are."""
    after = list(source)
    for dim, size in enumerate(sizes):
        left = size // _size(after[dim], mesh)
        for axis in (*target[dim], *(AxisRef(axis.name) for axis in mesh.axes)):
            used = [axis for axes in after for axis in axes]
            if left == 1 or overlap((axis,), used):
                continue
            if left % axis.size(mesh) and axis.size(mesh) % left == 0:
                axis = major_sub_axis(axis, left)
            if left % axis.size(mesh) == 0:
                after[dim] = with_axes(after[dim], (axis,), mesh)
                left //= axis.size(mesh)
        if left > 1:
            return None
    return after


def _exchanged(source: _Dims, before: list[int], after: list[int], mesh: Mesh) -> list[_Dims] | None:
    """The shardings after all-to-alls that give each dimension its number of shards; None if none can."""
    current = list(source)
    giving = [dim for dim in range(len(before)) if before[dim] > after[dim]]
    taking = [dim for dim in range(len(before)) if before[dim] < after[dim]]
    for dim in giving:
        factor = before[dim] // after[dim]
        other = next((dim for dim in taking if after[dim] == before[dim] * factor), None)
        kept = None if before[dim] % after[dim] else _prefix(current[dim], after[dim], mesh)
        if other is None or kept is None:
            return _moved(source, before, after)
        taking.remove(other)
        moved = _rest(current[dim], kept, mesh)
        current[dim], current[other] = kept, with_axes(current[other], moved, mesh)
    return [current]


def _moved(source: _Dims, before: list[int], after: list[int]) -> list[_Dims] | None:
    """The shardings after all axes of a dimension move to one that has none, and so on; None if none can."""
    steps: list[_Dims] = []
    current, sizes = list(source), list(before)
    while sizes != after:
        pairs = (
            (dim, other)
            for dim, size in enumerate(sizes)
            for other, wanted in enumerate(after)
            if sizes[other] == 1 < size == wanted and size != after[dim]
        )
        dim, other = next(pairs, (0, 0))
        if dim == other:
            return None
        current[dim], current[other] = (), current[dim]
        sizes[dim], sizes[other] = 1, sizes[dim]
        steps.append(list(current))
    return steps


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
