"""The plan of collectives that reshard a tensor, by Shardy's rules, or in the steps of XLA's partitioner.

    [{"x"}, {"y", "z"}]  →  [{"x", "w"}, {"z"}]

    all_slice           [{"w"}, {}]         [{"x", "w"}, {"y", "z"}]
    collective_permute                      [{"x", "w"}, {"z", "y"}]
    all_gather          [{}, {"y"}]         [{"x", "w"}, {"z"}]

Collectives that make the local tensor smaller come first, then those that keep its size, then those that make
it larger. If axis sizes are not all powers of two, this order may not lead to the target; then axes are
gathered first.

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

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import cached_by_release
from sdyopt.mlir.dialects.sdy.axes import AxisRef, with_axes
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllSliceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
)
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.shardy.sharding.axis_lists import (
    Axes,
    is_prefix,
    major_sub_axis,
    overlap,
    sharded_size,
    split_axis,
)
from sdyopt.shardy.sharding.reshard_to_collectives.collectives import (
    gather_clashing_sub_axes,
    gather_dimensions,
    is_permute_useful,
    move_axes,
    permute,
    slice_dimensions,
)
from sdyopt.shardy.sharding.reshard_to_collectives.state import ReshardState, axes_per_dim

if TYPE_CHECKING:
    from fractions import Fraction


# One round reaches most targets, and two rounds reach all if axis sizes are powers of two. Shardy stops after
# two; other sizes may need a third round. The limit only guards against endless plans.
_MAX_ROUNDS = 8
_SHARDY_ROUNDS = 2


class ReshardStep(NamedTuple):
    """A collective: its class, its own attribute, if any, and the sharding of its result."""

    op_class: type[CollectiveOp]
    parameter: tuple[tuple[str, Attribute], ...]
    sharding: TensorSharding

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes of the operation."""
        return {**dict(self.parameter), "out_sharding": self.sharding}


Plan = tuple[ReshardStep, ...]


def plan_collectives(
    shape: Sequence[int],
    source: TensorSharding,
    target: TensorSharding,
    mesh: Mesh,
    moves_borders: bool = False,
) -> Plan:
    """The steps from one sharding to another of the same rank.

    `mesh` is the mesh of the source; the target mesh must have the same axes. The source is assumed to have
    the unreduced axes of the target. With `moves_borders`, collectives may move the borders between the
    shards of a dimension; otherwise it is gathered instead.
    """

    def begin() -> ReshardState:
        return ReshardState(shape, source, target, mesh, moves_borders)

    steps = tuple(_steps(begin()))
    if not _has_valid_shardings(steps):
        steps = tuple(_steps_after_gather(begin()))
    # Whether each permute keeps the number of shards of each dimension, as the verifier requires.
    # If axis sizes are not all powers of two, a permute may change it. Shardy fails then.
    shardings = [source, *(step.sharding for step in steps)]
    has_valid_permutes = all(
        step.op_class is not CollectivePermuteOp
        or [dim.sharded_size(mesh) for dim in before.dims]
        == [dim.sharded_size(mesh) for dim in step.sharding.dims]
        for before, step in zip(shardings, steps, strict=False)
    )
    return steps if has_valid_permutes else tuple(_gather_and_slice(begin()))


@cached_by_release(maxsize=4096)
def elements_of_reshard(
    shape: tuple[int, ...], source: TensorSharding, target: TensorSharding, mesh: Mesh
) -> Fraction:
    """The number of elements that a device receives in a reshard, without those for which borders move."""
    from fractions import Fraction  # noqa: PLC0415  slow to import, and not needed to propagate

    received, before = Fraction(0), shard_elements(shape, source, mesh)
    for step in plan_collectives(shape, source, target, mesh, moves_borders=True):
        after = shard_elements(shape, step.sharding, mesh)
        if step.op_class is CollectivePermuteOp:
            received += after
        elif step.op_class is AllGatherOp:
            received += max(0, after - before)
        elif step.op_class is AllToAllOp:
            # The number of devices of each group of an all-to-all.
            moved_size = prod(
                [
                    max(1, old.sharded_size(mesh) // new.sharded_size(mesh))
                    for old, new in zip(source.dims, step.sharding.dims, strict=True)
                ]
            )
            received += after * (1 - Fraction(1, moved_size))
        source, before = step.sharding, after
    return received


def shard_elements(shape: Sequence[int], sharding: TensorSharding, mesh: Mesh) -> int:
    """The number of elements of the largest shard of a tensor."""
    return prod([-(-size // dim.sharded_size(mesh)) for size, dim in zip(shape, sharding.dims, strict=True)])


def _has_valid_shardings(steps: Plan) -> bool:
    """Whether the axes of each sharding can coexist and do not overlap.

    If axis sizes are not all powers of two, a step may shard the tensor along axes of both the source and the
    target that cannot coexist. In Shardy, some devices then have wrong elements, or the verifier fails.
    """
    for step in steps:
        sub_axes = [axis for dim in step.sharding.dims for axis in dim.axes if axis.sub_axis is not None]
        if any(not a.can_coexist(b) or a.overlaps(b) for a, b in combinations(sub_axes, 2)):
            return False
    return True


def _gather_and_slice(state: ReshardState) -> Iterator[ReshardStep]:
    """Gathers all surplus axes, and then slices along all missing axes."""
    gathered = [state.merged(axes) for axes in state.surplus]
    sliced = [state.merged(axes) for axes in state.missing]
    for dim, axes in enumerate(state.surplus):
        state.drop_current(dim, axes)
    if any(gathered):
        yield ReshardStep(AllGatherOp, (("gathering_axes", axes_per_dim(gathered)),), state.sharding)
    if state.mesh_or_ref is not state.target.mesh_or_ref:
        state.mesh_or_ref = state.target.mesh_or_ref
        yield ReshardStep(CollectivePermuteOp, (), state.sharding)
    for current, axes in zip(state.current, state.missing, strict=True):
        for axis in axes:
            state.append_axis(current, axis)
    if any(sliced):
        yield ReshardStep(AllSliceOp, (("slicing_axes", axes_per_dim(sliced)),), state.sharding)


def _steps_after_gather(state: ReshardState) -> Iterator[ReshardStep]:
    """Gathers the axes of the source that cannot coexist with those of the target first."""
    clashing = gather_clashing_sub_axes(state)
    if clashing is not None:
        yield ReshardStep(AllGatherOp, (("gathering_axes", axes_per_dim(clashing)),), state.sharding)
    yield from _steps(state)


def _steps(state: ReshardState) -> Iterator[ReshardStep]:
    for number in range(_MAX_ROUNDS):
        if state.is_done:
            return
        if number >= _SHARDY_ROUNDS:
            state.release_gathered_axes()
        steps = list(_round(state))
        if not steps and number >= _SHARDY_ROUNDS:
            # What remains missing, if anything, are axes of size 1.
            return
        yield from steps


def _round(state: ReshardState) -> Iterator[ReshardStep]:
    sliced = slice_dimensions(state)
    if sliced is not None:
        yield ReshardStep(AllSliceOp, (("slicing_axes", axes_per_dim(sliced)),), state.sharding)
    yield from _permute(state)
    for in_order in (True, False):
        for params in move_axes(state, in_order):
            yield ReshardStep(AllToAllOp, (("params", params),), state.sharding)
    gathered = gather_dimensions(state)
    if gathered is not None:
        yield ReshardStep(AllGatherOp, (("gathering_axes", axes_per_dim(gathered)),), state.sharding)


def _permute(state: ReshardState) -> Iterator[ReshardStep]:
    """A permute, if it is useful or if the target mesh has another device order."""
    if not state.padded and is_permute_useful(state):
        permute(state)
    elif state.mesh_or_ref is state.target.mesh_or_ref:
        return
    state.mesh_or_ref = state.target.mesh_or_ref
    yield ReshardStep(CollectivePermuteOp, (), state.sharding)


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


def _sizes(dims: _Dims, mesh: Mesh) -> list[int]:
    return [sharded_size(axes, mesh) for axes in dims]


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
        left = size // sharded_size(after[dim], mesh)
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
