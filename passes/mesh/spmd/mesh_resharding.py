"""Resharding: the shard under one sharding from the shard under another, in steps of one collective each.

If one step reaches the target, it is the only one: the last axis of a dimension moves to another dimension
(all_to_all), a dimension is sharded along one more axis (all_slice), or the last axis of a dimension is
removed (all_gather). Otherwise each dimension first loses its axes beyond the common prefix with the
target, minor-most first, and then gets the missing axes, major-most first. Before all that, partial results
are reduced (all_reduce).
"""

from __future__ import annotations

from typing import Self, Unpack

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.mesh.attributes import Axes, MeshSharding, axes_attribute
from sdyopt.mlir.dialects.mesh.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    MeshCollective,
    gathered_size,
    indivisible_dimension_error,
    shard_size,
)
from sdyopt.mlir.dialects.mesh.halo import UpdateHaloOp
from sdyopt.mlir.dialects.mesh.mesh_op import check_axes, op_class_in
from sdyopt.mlir.dialects.mesh.shard_op import local_type, mesh_of
from sdyopt.mlir.dialects.tensor.slices import (
    ExtractSliceOp,
    InsertSliceOp,
    operands_and_attributes,
    with_segments,
)
from sdyopt.mlir.dialects.tensor.values import CastOp, EmptyOp, Mixed
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseArray, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I64, INDEX, RankedTensor
from sdyopt.mlir.ir.value import Value

from ...common.support.function_shardings import directly_after_definition


class ReshardingBuilder:
    """A shard of a tensor, the sharding reached so far, and where the next collective is inserted."""

    def __init__(
        self,
        rewriter: Rewriter,
        shard: Value,
        sharding: MeshSharding,
        global_type: RankedTensor,
        op: Op,
        insertion_point: InsertionPoint,
    ) -> None:
        self.shard = shard
        self.sharding = sharding
        self.op = op
        self.mesh_shape = mesh_of(op, sharding).shape
        self.insertion_point = insertion_point
        self._rewriter = rewriter
        self._global_type = global_type

    def all_reduce(self, target: MeshSharding) -> None:
        """Reduces along the partial axes that the target does not have."""
        sharding = self.sharding
        kept = [axis for axis in sharding.partial_axes if axis in target.partial_axes]
        has_other_kind = kept and sharding.partial_kind is not target.partial_kind
        if set(kept) != set(target.partial_axes) or has_other_kind:
            raise self.op.error("cannot reshard to a partial sharding")
        axes = tuple(sorted(set(sharding.partial_axes) - set(kept)))
        self.sharding = MeshSharding(
            sharding.mesh, sharding.split_axes, target.partial_axes, target.partial_kind
        )
        if not axes:
            return
        reduction = op_class_in(self.op.dialect, AllReduceOp).reduction_class(sharding.partial_kind)
        self.create(
            AllReduceOp, self.shard_type, axes, directly_after_definition(self.shard), reduction=reduction
        )
        self.insertion_point = directly_after_definition(self.shard)

    @property
    def shard_type(self) -> RankedTensor:
        type = self.shard.type
        assert isinstance(type, RankedTensor)
        return type

    def local_type(self) -> RankedTensor:
        """The local type under the sharding reached so far; an error if a dimension is not divisible."""
        return local_type(self._global_type, self.sharding, self.op)

    def create(
        self,
        op_class: type[MeshCollective],
        type: RankedTensor,
        axes: Axes,
        insertion_point: InsertionPoint,
        **attributes: Attribute,
    ) -> None:
        """Applies a collective, in the version of the dialect that `op` is in."""
        op_class = op_class_in(self.op.dialect, op_class)
        collective = self._rewriter.create(
            op_class,
            [self.shard],
            [type],
            {
                op_class.mesh.name: self.sharding.mesh,
                op_class.mesh_axes.name: axes_attribute(axes),
                **attributes,
            },
            location=self.op.location,
            **insertion_point,
        )
        self.shard = collective.results[0]

    def cast_to_local_type(self) -> None:
        """Inserts a cast to the local type, even if the shard has that type."""
        cast = self._rewriter.create(
            CastOp,
            [self.shard],
            [self.local_type()],
            location=self.op.location,
            **directly_after_definition(self.shard),
        )
        self.shard = cast.results[0]
        if "after" in self.insertion_point or "at_start_of" in self.insertion_point:
            self.insertion_point = directly_after_definition(self.shard)

    def reshard_per_dimension(self, target: MeshSharding, rank: int) -> None:
        """Gathers each dimension to its common prefix with the target, then slices to the target."""
        for dimension in range(rank):
            target_axes = target.axes_of(dimension)
            while (axes := self.sharding.axes_of(dimension)) != target_axes[: len(axes)]:
                UnsplitLastAxis(dimension).apply(self)
        for dimension in range(rank):
            for axis in target.axes_of(dimension)[len(self.sharding.axes_of(dimension)) :]:
                SplitLastAxis(dimension, axis).apply(self)


# --- Steps ------------------------------------------------------------------------------------


class ReshardingStep:
    """A change of a sharding that one collective implements."""

    @classmethod
    def detect(cls, source: MeshSharding, target: MeshSharding) -> Self | None:
        """The first such step on the way from `source` to `target`; None if there is none."""
        raise NotImplementedError

    def result(self, sharding: MeshSharding) -> MeshSharding:
        """The sharding after the step."""
        raise NotImplementedError

    def apply(self, builder: ReshardingBuilder) -> None:
        """Inserts the collective."""
        raise NotImplementedError


@dataclass(frozen=True)
class MoveLastAxis(ReshardingStep):
    """Moves the last axis of one dimension to another."""

    source: int
    target: int

    @classmethod
    def detect(cls, source: MeshSharding, target: MeshSharding) -> Self | None:
        for source_dimension, source_axes in enumerate(source.split_axes):
            for target_dimension, target_axes in enumerate(target.split_axes):
                if source_dimension != target_dimension and source_axes and source_axes == target_axes:
                    return cls(source_dimension, target_dimension)
        return None

    def result(self, sharding: MeshSharding) -> MeshSharding:
        *axes, moved = sharding.axes_of(self.source)
        sharding = _with_axes(sharding, self.source, tuple(axes))
        return _with_axes(sharding, self.target, (*sharding.axes_of(self.target), moved))

    def apply(self, builder: ReshardingBuilder) -> None:
        axis = builder.sharding.axes_of(self.source)[-1]
        count = builder.mesh_shape[axis]
        builder.sharding = self.result(builder.sharding)
        builder.local_type()  # raises if a dimension is not divisible
        shape = list(builder.shard_type.shape)
        shape[self.source] = gathered_size(shape[self.source], count)
        shape[self.target] = shard_size(shape[self.target], count)
        builder.create(
            AllToAllOp,
            _with_shape(builder.shard_type, shape),
            (axis,),
            directly_after_definition(builder.shard),
            split_axis=integer(self.target, INDEX),
            concat_axis=integer(self.source, INDEX),
        )
        builder.cast_to_local_type()


@dataclass(frozen=True)
class SplitLastAxis(ReshardingStep):
    """Shards a dimension along one more axis."""

    dimension: int
    axis: int

    @classmethod
    def detect(cls, source: MeshSharding, target: MeshSharding) -> Self | None:
        for dimension in range(_rank(source, target)):
            target_axes = target.axes_of(dimension)
            if target_axes and target_axes[:-1] == source.axes_of(dimension):
                return cls(dimension, target_axes[-1])
        return None

    def result(self, sharding: MeshSharding) -> MeshSharding:
        return _with_axes(sharding, self.dimension, (*sharding.axes_of(self.dimension), self.axis))

    def apply(self, builder: ReshardingBuilder) -> None:
        shape, count = list(builder.shard_type.shape), builder.mesh_shape[self.axis]
        size = shape[self.dimension]
        shape[self.dimension] = shard_size(size, count)
        if shape[self.dimension] == DYNAMIC and DYNAMIC not in (size, count):
            raise indivisible_dimension_error(builder.op, size, count, self.dimension)
        builder.sharding = self.result(builder.sharding)
        builder.create(
            AllSliceOp,
            _with_shape(builder.shard_type, shape),
            (self.axis,),
            builder.insertion_point,
            slice_axis=integer(self.dimension, INDEX),
        )
        if "after" in builder.insertion_point:
            builder.insertion_point = directly_after_definition(builder.shard)


@dataclass(frozen=True)
class UnsplitLastAxis(ReshardingStep):
    """Gathers a dimension along its last axis."""

    dimension: int

    @classmethod
    def detect(cls, source: MeshSharding, target: MeshSharding) -> Self | None:
        for dimension in range(_rank(source, target)):
            axes = source.axes_of(dimension)
            if axes and axes[:-1] == target.axes_of(dimension):
                return cls(dimension)
        return None

    def result(self, sharding: MeshSharding) -> MeshSharding:
        return _with_axes(sharding, self.dimension, sharding.axes_of(self.dimension)[:-1])

    def apply(self, builder: ReshardingBuilder) -> None:
        axis = builder.sharding.axes_of(self.dimension)[-1]
        shape = list(builder.shard_type.shape)
        shape[self.dimension] = gathered_size(shape[self.dimension], builder.mesh_shape[axis])
        builder.sharding = self.result(builder.sharding)
        builder.create(
            AllGatherOp,
            _with_shape(builder.shard_type, shape),
            (axis,),
            directly_after_definition(builder.shard),
            gather_axis=integer(self.dimension, INDEX),
        )
        builder.cast_to_local_type()


def _rank(source: MeshSharding, target: MeshSharding) -> int:
    return max(len(source.split_axes), len(target.split_axes))


def _with_axes(sharding: MeshSharding, dimension: int, axes: Axes) -> MeshSharding:
    lists = [sharding.axes_of(d) for d in range(max(len(sharding.split_axes), dimension + 1))]
    lists[dimension] = axes
    return MeshSharding(sharding.mesh, tuple(lists), sharding.partial_axes, sharding.partial_kind)


def _with_shape(type: RankedTensor, shape: list[int]) -> RankedTensor:
    return RankedTensor(tuple(shape), type.element, type.encoding)


def reshard(
    rewriter: Rewriter,
    shard: Value,
    source: MeshSharding,
    target: MeshSharding,
    global_type: RankedTensor,
    op: Op,
    **insertion_point: Unpack[InsertionPoint],
) -> Value:
    """The shard of a tensor under `target`, from `shard` under `source`.

    Errors are located at `op`. Most collectives are inserted after the definition of their operand, the
    others at `insertion_point`.
    """
    if source.offsets or target.offsets:
        if not source.is_equivalent_to(target):
            raise op.error("cannot reshard a tensor with sharded dims offsets")
        return shard
    if source.halo_sizes != target.halo_sizes:
        if not source.without_halos.is_equivalent_to(target.without_halos):
            raise op.error("cannot reshard and change halo sizes at once")
        return reshard_halos(rewriter, shard, source, target, global_type, op, **insertion_point)
    if source.halo_sizes and not source.is_equivalent_to(target):
        raise op.error("cannot reshard a tensor with halos")
    check_axes(op, mesh_of(op, source), target.all_axes)
    builder = ReshardingBuilder(rewriter, shard, source, global_type, op, insertion_point)
    builder.all_reduce(target)
    if not builder.sharding.is_equivalent_to(target):
        step = _single_step(builder.sharding, target)
        if step is not None:
            step.apply(builder)
        else:
            builder.reshard_per_dimension(target, global_type.rank)
    return builder.shard


# In the order in which they are tried.
_STEPS: tuple[type[ReshardingStep], ...] = (MoveLastAxis, SplitLastAxis, UnsplitLastAxis)


def _single_step(source: MeshSharding, target: MeshSharding) -> ReshardingStep | None:
    """The first step that is found, if it leads to the target."""
    for step_class in _STEPS:
        step = step_class.detect(source, target)
        if step is not None:
            return step if step.result(source).is_equivalent_to(target) else None
    return None


def reshard_halos(
    rewriter: Rewriter,
    shard: Value,
    source: MeshSharding,
    target: MeshSharding,
    global_type: RankedTensor,
    op: Op,
    **insertion_point: Unpack[InsertionPoint],
) -> Value:
    """The shard under `target`: its core in a tensor of the new local shape, then halos from neighbors.

    Errors are located at `op`.
    """
    # Only at these two insertion points do operations stay in the order in which they are created.
    assert "at_end_of" in insertion_point or "before" in insertion_point
    old, new = local_type(global_type, source, op), local_type(global_type, target, op)
    if DYNAMIC in (*old.shape, *new.shape):
        raise op.error("halos of shards of dynamic shape are not supported")
    rank, location = global_type.rank, op.location
    core = [size - sum(source.halo_of(dimension)) for dimension, size in enumerate(old.shape)]
    source_offsets: Mixed = [source.halo_of(dimension)[0] for dimension in range(rank)]
    target_offsets: Mixed = [target.halo_of(dimension)[0] for dimension in range(rank)]
    sizes, strides = list[Value | int](core), list[Value | int]([1] * rank)
    core_type = RankedTensor(tuple(core), global_type.element, global_type.encoding)
    _, extract_attributes = operands_and_attributes(source_offsets, sizes, strides)
    if not target.halo_sizes:
        extracted = rewriter.create(
            ExtractSliceOp,
            [shard],
            [new],
            with_segments(extract_attributes, 1),
            location=location,
            **insertion_point,
        )
        return extracted.results[0]
    empty = rewriter.create(EmptyOp, (), [new], location=location, **insertion_point)
    extracted = rewriter.create(
        ExtractSliceOp,
        [shard],
        [core_type],
        with_segments(extract_attributes, 1),
        location=location,
        **insertion_point,
    )
    _, insert_attributes = operands_and_attributes(target_offsets, sizes, strides)
    inserted = rewriter.create(
        InsertSliceOp,
        [extracted.results[0], empty.results[0]],
        [new],
        with_segments(insert_attributes, 2),
        location=location,
        **insertion_point,
    )
    update_halo = op_class_in(op.dialect, UpdateHaloOp)
    attributes = {
        update_halo.mesh.name: target.mesh,
        "split_axes": update_halo.lists_class(target.split_axes),
        "static_halo_sizes": DenseArray(I64, target.halo_sizes),
    }
    updated = rewriter.create(
        update_halo, inserted.results, [new], attributes, location=location, **insertion_point
    )
    return updated.results[0]
