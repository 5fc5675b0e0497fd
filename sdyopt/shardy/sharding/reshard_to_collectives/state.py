"""The state of a tensor between two shardings: its current, surplus and missing axes per dimension.

For a reshard from [{"x"}, {"y", "z"}] to [{"x", "w"}, {"z"}] it starts with

    current   [["x"], ["y", "z"]]   the current sharding
    surplus   [[],    ["y", "z"]]   its axes after the common prefix with the target
    missing   [["w"], ["z"]]        the axes of the target after the common prefix

Every collective updates all three, until there are no surplus and no missing axes.

The lists are aligned, so that sub-axes that can coexist are either equal or disjoint. With `"a":(1)8` in
one list and `"a":(4)4` in the other, the first is split into `"a":(1)4` and `"a":(4)2`, the second into
`"a":(4)2` and `"a":(8)2`. Aligned sub-axes can be compared by identity, and looked up in a dict.

The capacity of a dimension is how many times larger its sharded size may still become. If `"x"`=2 is
assigned to a dimension of capacity 4, capacity 2 remains. Of `"y"`=4 only the major half, `"y":(1)2`, then
fits; no capacity remains, and the minor half is left for another dimension. An axis of size 3 does not
fit, because sizes must divide.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from math import prod

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxesPerDim, AxisRef, AxisRefList, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding


def align(dims: Sequence[list[AxisRef]], others: Iterable[AxisRef], mesh: Mesh) -> None:
    """Splits the axes of each dimension where one of `others` starts or ends inside an axis."""
    ordered = sorted(others, key=lambda axis: axis.sort_key)
    if not ordered:
        return
    keys = [axis.sort_key for axis in ordered]
    for axes in dims:
        axes[:] = [aligned for axis in axes for aligned in _split(axis, ordered, keys, mesh)]


def sub_axis(name: str, pre_size: int, next_pre_size: int) -> AxisRef:
    """The sub-axis from one pre-size up to another."""
    return AxisRef(name, SubAxis(pre_size, next_pre_size // pre_size))


def _split(
    axis: AxisRef, others: Sequence[AxisRef], keys: Sequence[tuple[str, int, int]], mesh: Mesh
) -> list[AxisRef]:
    """The sub-axes of an axis, each contained in one of the sorted `others` or disjoint from all of them."""
    index = bisect_left(keys, axis.sort_key)
    if index > 0 and axis.overlaps(others[index - 1]):
        index -= 1
    sub_axes: list[AxisRef] = []
    while index < len(others) and _must_split(axis, others[index]):
        other = others[index]
        start, end = axis.pre_size, axis.next_pre_size(mesh)
        other_start, other_end = other.pre_size, other.next_pre_size(mesh)
        if start < other_start:
            sub_axes.append(sub_axis(axis.name, start, other_start))
        sub_axes.append(sub_axis(axis.name, max(start, other_start), min(end, other_end)))
        if end <= other_end:
            return sub_axes
        axis = sub_axis(axis.name, other_end, end)
        index += 1
    return [*sub_axes, axis]


def _must_split(axis: AxisRef, other: AxisRef) -> bool:
    """Whether another axis overlaps an axis without containing it, and can coexist with it."""
    return other.overlaps(axis) and not other.contains(axis) and other.can_coexist(axis)


class ReshardState:
    """The axes of each dimension, which every collective updates.

    Invariants between collectives, for each dimension:

    - `current` is a prefix of the target followed by `surplus`; the target is that prefix followed by
      `missing`. Adjacent sub-axes are merged in `current`, but not in the other two.
    - `surplus` and `missing` do not start with the same axis, except in `padded`.
    - A dimension in `padded` has another padding in the source than in the target: of 50 elements, 2 shards
      have 25 each, and 4 shards 13, with a padding of 2. Its shards are no parts of each other, so it must
      lose all axes at once before it is sharded again. Until then, `surplus` has all its axes, and `missing`
      all of the target.

    For the whole tensor:

    - The axes of all `surplus` and `missing` lists are aligned: two of them are identical or disjoint, and
      compared by identity. Only sub-axes that no refinement makes so, such as "six":(1)3 and "six":(2)3,
      overlap. Whatever splits a surplus axis aligns `missing` again.
    - `in_use` has all surplus axes, which an all-slice must not use. As in Shardy, gathered axes may remain
      in `in_use`; `release_gathered_axes` removes them.
    - `destinations` maps each missing axis to its dimension and its position in `missing`. All-to-alls remove
      the first missing axes and do not update the map: positions of one dimension stay valid relative to each
      other, and axes that are no longer missing keep their entries. Only surplus axes are looked up.
    """

    __slots__ = (
        "current",
        "destinations",
        "in_use",
        "mesh",
        "mesh_or_ref",
        "missing",
        "padded",
        "shape",
        "surplus",
        "target",
    )

    def __init__(
        self,
        shape: Sequence[int],
        source: TensorSharding,
        target: TensorSharding,
        mesh: Mesh,
        moves_borders: bool = False,
    ) -> None:
        self.shape = shape
        self.mesh = mesh
        self.target = target
        self.mesh_or_ref = source.mesh_or_ref
        self.current = [list(dim.axes) for dim in source.dims]
        self.surplus = [list(dim.axes) for dim in source.dims]
        self.missing = [list(dim.axes) for dim in target.dims]
        source_axes = [axis for axes in self.surplus for axis in axes]
        target_axes = [axis for axes in self.missing for axis in axes]
        align(self.surplus, target_axes, mesh)
        align(self.missing, source_axes, mesh)
        self.padded = set() if moves_borders else self._dimensions_with_other_padding(target)
        for dim, (surplus, missing) in enumerate(zip(self.surplus, self.missing, strict=True)):
            if dim not in self.padded:
                count = 0
                for one, other in zip(surplus, missing, strict=False):
                    if one is not other:
                        break
                    count += 1
                del surplus[:count], missing[:count]
        self.in_use = {axis for axes in self.surplus for axis in axes}
        self.destinations: dict[AxisRef, tuple[int, int]] = {}
        self.index_destinations()

    @property
    def rank(self) -> int:
        return len(self.current)

    @property
    def is_done(self) -> bool:
        """Whether the target is reached, its mesh included."""
        return self.mesh_or_ref is self.target.mesh_or_ref and not any(self.surplus) and not any(self.missing)

    @property
    def sharding(self) -> TensorSharding:
        """The current sharding. No collective changes unreduced axes, so they are those of the target."""
        # Interned objects are looked up faster if every field is passed.
        dims = tuple([DimensionSharding(tuple(axes), True, None) for axes in self.current])
        return TensorSharding(self.mesh_or_ref, dims, (), self.target.unreduced_axes, self.target.reduction)

    def _dimensions_with_other_padding(self, target: TensorSharding) -> set[int]:
        if not Behavior.RESHARDS_OF_PADDED_DIMENSIONS.active:
            return set()
        padded: set[int] = set()
        for dim, (size, old_axes, new) in enumerate(zip(self.shape, self.current, target.dims, strict=True)):
            old_count, new_count = self.sharded_size(old_axes), self.sharded_size(new.axes)
            if min(old_count, new_count) > 1 and _padded_size(size, old_count) != _padded_size(
                size, new_count
            ):
                padded.add(dim)
        return padded

    def release_gathered_axes(self) -> None:
        """Makes the axes that all-gathers have removed available to an all-slice."""
        self.in_use = {axis for axes in self.surplus for axis in axes}

    def index_destinations(self) -> None:
        """Rebuilds `destinations`, after an all-slice or a permute has changed `missing`."""
        self.destinations = {}
        for dim, axes in enumerate(self.missing):
            for position, axis in enumerate(axes):
                self.destinations.setdefault(axis, (dim, position))

    def destination(self, axis: AxisRef) -> int | None:
        """The dimension that lacks a surplus axis; None if no dimension does, or it is padded."""
        destination = self.destinations.get(axis)
        return None if destination is None or destination[0] in self.padded else destination[0]

    # --- Axes -----------------------------------------------------------------------------

    def size(self, axis: AxisRef) -> int:
        """The size of an axis."""
        return axis.size(self.mesh)

    def sharded_size(self, axes: Iterable[AxisRef]) -> int:
        """The product of the sizes of some axes."""
        return prod(map(self.size, axes))

    def sizes_divide(self, first: AxisRef, second: AxisRef) -> bool:
        """Whether the size of one of two axes divides that of the other."""
        sizes = self.size(first), self.size(second)
        return max(sizes) % min(sizes) == 0

    def append_axis(self, axes: list[AxisRef], axis: AxisRef) -> None:
        """Appends an axis to a list, merged with the last axis if possible."""
        if axes and axes[-1].can_merge(axis):
            axes[-1] = axes[-1].merge(axis, self.mesh)
        else:
            axes.append(axis)

    def merged(self, axes: Iterable[AxisRef]) -> list[AxisRef]:
        """The axes, with adjacent sub-axes merged if possible."""
        result: list[AxisRef] = []
        for axis in axes:
            self.append_axis(result, axis)
        return result

    def drop_current(self, dim: int, axes: Sequence[AxisRef]) -> None:
        """Removes axes from the end of `current` in a dimension, where they may be part of merged axes."""
        current = self.current[dim]
        for axis in reversed(axes):
            prefix = current.pop().prefix_without_overlap(axis) if current else None
            if prefix is not None:
                current.append(prefix)
        if not current:
            self.padded.discard(dim)


def axes_per_dim(dims: Iterable[Iterable[AxisRef]]) -> AxesPerDim:
    """The attribute of a collective that lists axes per dimension."""
    return AxesPerDim(tuple([AxisRefList(tuple(axes)) for axes in dims]))


def _padded_size(size: int, count: int) -> int:
    """The size of a dimension with the padding of `count` shards."""
    return -(-size // count) * count


class AxisSplit(NamedTuple):
    """The sub-axis that fits into a capacity, the rest of the axis, and the remaining capacity."""

    fitting: AxisRef | None
    rest: AxisRef | None
    capacity: int


def split_by_capacity(state: ReshardState, axis: AxisRef, capacity: int) -> AxisSplit:
    """Splits an axis into what fits into a capacity (all, a major sub-axis, or nothing) and the rest."""
    size = state.size(axis)
    if capacity <= 1 or (capacity % size and size % capacity):
        return AxisSplit(None, axis, capacity)
    if capacity >= size:
        return AxisSplit(axis, None, capacity // size)
    start = axis.pre_size
    middle = start * capacity
    return AxisSplit(sub_axis(axis.name, start, middle), sub_axis(axis.name, middle, start * size), 1)


def assign_to_surplus(
    state: ReshardState,
    capacities: list[int],
    available: Callable[[int], list[AxisRef]],
    major_most: bool,
    on_assigned: Callable[[int, AxisRef], None] = lambda dim, axis: None,
) -> None:
    """Assigns available axes to the surplus of each dimension, within its capacity.

    The assigned axes become the major-most or minor-most surplus axes, and are removed from `available(dim)`,
    which may return the same list for all dimensions. `on_assigned` is called for each assigned axis.
    """
    split_axes: list[AxisRef] = []
    for dim, surplus in enumerate(state.surplus):
        position = 0 if major_most else len(surplus)
        axes = available(dim)
        unassigned: list[AxisRef] = []
        for axis in axes:
            fitting, rest, capacities[dim] = split_by_capacity(state, axis, capacities[dim])
            if fitting is None:
                unassigned.append(axis)
                continue
            surplus.insert(position, fitting)
            position += 1
            state.in_use.add(fitting)
            on_assigned(dim, fitting)
            if rest is not None:
                split_axes.append(fitting)
                unassigned.insert(0, rest)
        axes[:] = unassigned
    align(state.missing, split_axes, state.mesh)
