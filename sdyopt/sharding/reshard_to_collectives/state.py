"""What a tensor's sharding has too much and what it lacks, while it is brought to the target.

For a tensor that goes from [{"x"}, {"y", "z"}] to [{"x", "w"}, {"z"}]:

    current   [["x"], ["y", "z"]]   how it is sharded now
    extra     [[],    ["y", "z"]]   of this, what stands behind the beginning that both share
    missing   [["w"], ["z"]]        what the target has behind this beginning

The target is reached when nothing is extra and nothing missing. Every collective changes all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.axis_lists import AxesPerDim, AxisRefList
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.sharding.reshard_to_collectives.sub_axis_alignment import align


class ReshardState:
    """How far a tensor is on its way. Changes with every collective."""

    __slots__ = (
        "current",
        "destinations",
        "in_use",
        "mesh",
        "mesh_or_ref",
        "missing",
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
        before = [axis for axes in self.surplus for axis in axes]
        after = [axis for axes in self.missing for axis in axes]
        align(self.surplus, after, mesh)
        align(self.missing, before, mesh)
        for surplus, missing in zip(self.surplus, self.missing, strict=True):
            _drop_common_prefix(surplus, missing)
        # The axes in `extra`, as far as slices have to know.
        self.in_use = {axis for axes in self.surplus for axis in axes}
        # Where in `missing` an axis stands: dimension and position.
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
        """How the tensor is sharded now."""
        # All fields are given, because facts are found faster then.
        dims = tuple([DimensionSharding(tuple(axes), True, None) for axes in self.current])
        return TensorSharding(self.mesh_or_ref, dims, (), self.target.unreduced_axes)

    def index_destinations(self) -> None:
        """Finds out anew where the missing axes stand, because some have been cut."""
        self.destinations = {}
        for dim, axes in enumerate(self.missing):
            for position, axis in enumerate(axes):
                self.destinations.setdefault(axis, (dim, position))

    def destination(self, axis: AxisRef) -> int | None:
        """The dimension that lacks an axis; None if no dimension does."""
        found = self.destinations.get(axis)
        return None if found is None else found[0]

    # --- Axes -----------------------------------------------------------------------------

    def size(self, axis: AxisRef) -> int:
        """Into how many parts an axis splits."""
        return axis.size(self.mesh)

    def sharded_size(self, axes: Iterable[AxisRef]) -> int:
        """Into how many parts axes split together."""
        return prod(map(self.size, axes))

    def divide(self, first: AxisRef, second: AxisRef) -> bool:
        """Whether the size of one of two axes divides that of the other."""
        sizes = self.size(first), self.size(second)
        return max(sizes) % min(sizes) == 0

    def add(self, axes: list[AxisRef], axis: AxisRef) -> None:
        """Puts an axis behind others, as one with the last if they belong together."""
        if axes and axes[-1].can_merge(axis):
            axes[-1] = axes[-1].merge(axis, self.mesh)
        else:
            axes.append(axis)

    def drop_current(self, dim: int, axes: Sequence[AxisRef]) -> None:
        """Takes axes, which may be parts of those there, from the end of what shards a dimension."""
        current = self.current[dim]
        for axis in reversed(axes):
            if not current:
                return
            prefix = current.pop().prefix_without(axis)
            if prefix is not None:
                current.append(prefix)


def axes_per_dim(dims: Iterable[Iterable[AxisRef]]) -> AxesPerDim:
    """Axes of dimensions as a collective names them."""
    return AxesPerDim(tuple([AxisRefList(tuple(axes)) for axes in dims]))


def _drop_common_prefix(first: list[AxisRef], second: list[AxisRef]) -> None:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one is not other:
            break
        count += 1
    del first[:count], second[:count]
