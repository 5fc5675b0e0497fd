"""Resharding: from the shards of one sharding to those of another, by collectives.

Where one step is enough, that step is taken: a split list moves from one dimension to another
(all_to_all), an axis is added to a dimension (all_slice) or taken off one (all_gather). Otherwise each
dimension gives up the axes that it does not share with what is wanted, innermost first, and then takes
the missing ones, outermost first. What is partial is combined before anything else (all_reduce).
"""

from __future__ import annotations

from typing import Unpack

from sdyopt.dialects.mesh.axes import Axes, axes_attribute
from sdyopt.dialects.mesh.collective_base import (
    gather_dimension,
    indivisible_dimension_error,
    shard_dimension,
)
from sdyopt.dialects.mesh.collectives import AllReduceOp
from sdyopt.dialects.mesh.shard_shapes import local_type, mesh_of
from sdyopt.dialects.mesh.sharding import MeshSharding
from sdyopt.dialects.tensor.casts import CastOp
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.insertion_point import InsertionPoint
from sdyopt.ir.numeric_attributes import integer
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import DYNAMIC, INDEX, RankedTensor
from sdyopt.ir.value import BlockArgument, OpResult, Value

from .halo_resharding import reshard_halos


def reshard(
    rewriter: Rewriter,
    value: Value,
    source: MeshSharding,
    target: MeshSharding,
    whole: RankedTensor,
    op: Op,
    **end: Unpack[InsertionPoint],
) -> Value:
    """The shard of a tensor under `target`, made of its shard `value` under `source`.

    `op` asks for it: errors stand there. Most operations go right behind the one whose result they
    take; those that do not, to `end`.
    """
    if source.halo_sizes != target.halo_sizes:
        if not source.without_halos.is_equivalent_to(target.without_halos):
            raise op.error("cannot reshard and change halo sizes at once")
        return reshard_halos(rewriter, value, source, target, whole, op, **end)
    if source.halo_sizes and not source.is_equivalent_to(target):
        raise op.error("cannot reshard a tensor with halos")
    shard = _Shard(rewriter, value, source, whole, op, end)
    shard.combine(target)
    if not shard.sharding.is_equivalent_to(target):
        step = _one_step(shard.sharding, target)
        if step is not None:
            shard.take(step)
        else:
            shard.reshard_via_replicated(target)
    return shard.value


# A step: ("move", source dimension, target dimension), ("split", dimension, axis), ("unsplit", dimension)
Step = tuple[str, int, int]


def _one_step(source: MeshSharding, target: MeshSharding) -> Step | None:
    """The step that is enough, if there is one."""
    rank = max(len(source.split_axes), len(target.split_axes))
    for step in (_move(source, target), _split(source, target, rank), _unsplit(source, target, rank)):
        if step is not None:
            return step if _after(source, step).is_equivalent_to(target) else None
    return None


def _move(source: MeshSharding, target: MeshSharding) -> Step | None:
    for i, axes in enumerate(source.split_axes):
        for j, wanted in enumerate(target.split_axes):
            if i != j and axes and axes == wanted:
                return ("move", i, j)
    return None


def _split(source: MeshSharding, target: MeshSharding, rank: int) -> Step | None:
    for dimension in range(rank):
        axes, wanted = source.axes_of(dimension), target.axes_of(dimension)
        if wanted and wanted[:-1] == axes:
            return ("split", dimension, wanted[-1])
    return None


def _unsplit(source: MeshSharding, target: MeshSharding, rank: int) -> Step | None:
    for dimension in range(rank):
        axes, wanted = source.axes_of(dimension), target.axes_of(dimension)
        if axes and axes[:-1] == wanted:
            return ("unsplit", dimension, axes[-1])
    return None


def _after(sharding: MeshSharding, step: Step) -> MeshSharding:
    """The sharding after a step."""
    kind, dimension, other = step
    axes = sharding.axes_of(dimension)
    if kind == "split":
        return _with(sharding, dimension, (*axes, other))
    without = _with(sharding, dimension, axes[:-1])
    if kind == "unsplit":
        return without
    return _with(without, other, (*without.axes_of(other), axes[-1]))


def _with(sharding: MeshSharding, dimension: int, axes: Axes) -> MeshSharding:
    lists = [sharding.axes_of(d) for d in range(max(len(sharding.split_axes), dimension + 1))]
    lists[dimension] = axes
    return MeshSharding(sharding.mesh, tuple(lists), sharding.partial_axes, sharding.partial_kind)


class _Shard:
    """What a device holds, on its way from one sharding to another."""

    def __init__(
        self,
        rewriter: Rewriter,
        value: Value,
        sharding: MeshSharding,
        whole: RankedTensor,
        op: Op,
        end: InsertionPoint,
    ) -> None:
        self.value = value
        self.sharding = sharding
        self._rewriter = rewriter
        self._whole = whole
        self._op = op
        self._end = end
        self._mesh_op = mesh_of(op, sharding)

    def combine(self, target: MeshSharding) -> None:
        """Combines what is partial and should not be."""
        sharding, op = self.sharding, self._op
        kept = [axis for axis in sharding.partial_axes if axis in target.partial_axes]
        is_other_kind = kept and sharding.partial_kind is not target.partial_kind
        if set(kept) != set(target.partial_axes) or is_other_kind:
            raise op.error("cannot reshard to a partial sharding")
        axes = tuple(sorted(set(sharding.partial_axes) - set(kept)))
        self.sharding = MeshSharding(
            sharding.mesh, sharding.split_axes, target.partial_axes, target.partial_kind
        )
        if not axes:
            return
        reduce = op.dialect.ops["all_reduce"]
        assert issubclass(reduce, AllReduceOp)
        kind = reduce.reduction_class(sharding.partial_kind)
        self._make("all_reduce", self._type, axes, _behind(self.value), reduction=kind)
        self._end = _behind(self.value)

    def take(self, step: Step) -> None:
        """Takes a step."""
        kind, dimension, other = step
        if kind == "split":
            self.split(dimension, other)
        elif kind == "unsplit":
            self.unsplit(dimension)
        else:
            self.move(dimension, other)

    def reshard_via_replicated(self, target: MeshSharding) -> None:
        """Takes off the axes that are not wanted, and adds those that are missing."""
        rank = self._whole.rank
        for dimension in range(rank):
            wanted = target.axes_of(dimension)
            while (axes := self.sharding.axes_of(dimension)) != wanted[: len(axes)]:
                self.unsplit(dimension)
        for dimension in range(rank):
            for axis in target.axes_of(dimension)[len(self.sharding.axes_of(dimension)) :]:
                self.split(dimension, axis)

    def move(self, source: int, target: int) -> None:
        """Moves the last axis of one dimension to another."""
        axis = self.sharding.axes_of(source)[-1]
        size = self._mesh_op.shape[axis]
        self.sharding = _after(self.sharding, ("move", source, target))
        self._check_local()
        shape = list(self._type.shape)
        shape[source], shape[target] = (
            gather_dimension(shape[source], size),
            shard_dimension(shape[target], size),
        )
        self._make(
            "all_to_all",
            self._with_shape(shape),
            (axis,),
            _behind(self.value),
            split_axis=integer(target, INDEX),
            concat_axis=integer(source, INDEX),
        )
        self._cast()

    def split(self, dimension: int, axis: int) -> None:
        """Splits a dimension along one more axis."""
        size, shape = self._mesh_op.shape[axis], list(self._type.shape)
        old = shape[dimension]
        shape[dimension] = shard_dimension(old, size)
        if shape[dimension] == DYNAMIC and DYNAMIC not in (old, size):
            raise indivisible_dimension_error(self._op, old, size, dimension)
        self.sharding = _after(self.sharding, ("split", dimension, axis))
        self._make(
            "all_slice",
            self._with_shape(shape),
            (axis,),
            self._end,
            slice_axis=integer(dimension, INDEX),
        )
        if "after" in self._end:
            self._end = _behind(self.value)

    def unsplit(self, dimension: int) -> None:
        """Joins the parts along the last axis of a dimension."""
        axis = self.sharding.axes_of(dimension)[-1]
        shape = list(self._type.shape)
        shape[dimension] = gather_dimension(shape[dimension], self._mesh_op.shape[axis])
        self.sharding = _after(self.sharding, ("unsplit", dimension, axis))
        self._make(
            "all_gather",
            self._with_shape(shape),
            (axis,),
            _behind(self.value),
            gather_axis=integer(dimension, INDEX),
        )
        self._cast()

    # --- Helpers --------------------------------------------------------------------------

    @property
    def _type(self) -> RankedTensor:
        type = self.value.type
        assert isinstance(type, RankedTensor)
        return type

    def _with_shape(self, shape: list[int]) -> RankedTensor:
        return RankedTensor(tuple(shape), self._type.element, self._type.encoding)

    def _check_local(self) -> RankedTensor:
        return local_type(self._whole, self.sharding, self._op)

    def _make(
        self,
        name: str,
        type: RankedTensor,
        axes: Axes,
        insertion_point: InsertionPoint,
        **attributes: Attribute,
    ) -> None:
        held = {"mesh": self.sharding.mesh, "mesh_axes": axes_attribute(axes), **attributes}
        made = self._rewriter.create(
            self._op.dialect.ops[name],
            [self.value],
            [type],
            held,
            location=self._op.location,
            **insertion_point,
        )
        self.value = made.results[0]

    def _cast(self) -> None:
        """Gives the value the type that its sharding says, even if it has that type."""
        made = self._rewriter.create(
            CastOp, [self.value], [self._check_local()], location=self._op.location, **_behind(self.value)
        )
        self.value = made.results[0]
        if "after" in self._end or "at_start_of" in self._end:
            self._end = _behind(self.value)


def _behind(value: Value) -> InsertionPoint:
    """Right behind what defines a value."""
    if isinstance(value, BlockArgument):
        return {"at_start_of": value.owner}
    assert isinstance(value, OpResult)
    return {"after": value.op}
