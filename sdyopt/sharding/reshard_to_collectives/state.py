"""The state of a tensor between two shardings: its current, surplus and missing axes per dimension.

For a reshard from [{"x"}, {"y", "z"}] to [{"x", "w"}, {"z"}] it starts with

    current   [["x"], ["y", "z"]]   the current sharding
    surplus   [[],    ["y", "z"]]   its axes after the common prefix with the target
    missing   [["w"], ["z"]]        the axes of the target after the common prefix

Every collective updates all three, until there are no surplus and no missing axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.axis_lists import AxesPerDim, AxisRefList
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.releases import Behavior
from sdyopt.sharding.reshard_to_collectives.sub_axis_alignment import align


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
        self, shape: Sequence[int], source: TensorSharding, target: TensorSharding, mesh: Mesh
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
        self.padded = self._dimensions_with_other_padding(target)
        for dim, (surplus, missing) in enumerate(zip(self.surplus, self.missing, strict=True)):
            if dim not in self.padded:
                _drop_common_prefix(surplus, missing)
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
        found = self.destinations.get(axis)
        return None if found is None or found[0] in self.padded else found[0]

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
            if not current:
                break
            prefix = current.pop().prefix_without_overlap(axis)
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


def _drop_common_prefix(first: list[AxisRef], second: list[AxisRef]) -> None:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one is not other:
            break
        count += 1
    del first[:count], second[:count]
