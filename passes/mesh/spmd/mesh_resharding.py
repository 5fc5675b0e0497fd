"""Resharding: the shard under one sharding, computed from the shard under another by collectives.

If one step reaches the target, it is the only one: the last axis of a dimension moves to another dimension
(all_to_all), a dimension is sharded along one more axis (all_slice), or the last axis of a dimension is
removed (all_gather). Otherwise each dimension first loses its axes beyond the common prefix with the
target, minor-most first, and then gets the missing axes, major-most first. Before all that, partial results
are reduced (all_reduce).
"""

from __future__ import annotations

from typing import Unpack

from sdyopt.mlir.dialects.mesh.attributes import MeshSharding
from sdyopt.mlir.dialects.mesh.halo import UpdateHaloOp
from sdyopt.mlir.dialects.mesh.mesh_op import check_axes, op_class_in
from sdyopt.mlir.dialects.mesh.shard_op import local_type, mesh_of
from sdyopt.mlir.dialects.tensor.slices import (
    ExtractSliceOp,
    InsertSliceOp,
    operands_and_attributes,
    with_segments,
)
from sdyopt.mlir.dialects.tensor.values import EmptyOp, Mixed
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I64, RankedTensor
from sdyopt.mlir.ir.value import Value

from .resharding_steps import MoveLastAxis, ReshardingBuilder, ReshardingStep, SplitLastAxis, UnsplitLastAxis


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
            _reshard_per_dimension(builder, target, global_type.rank)
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


def _reshard_per_dimension(builder: ReshardingBuilder, target: MeshSharding, rank: int) -> None:
    """Gathers each dimension to its common prefix with the target, then slices to the target."""
    for dimension in range(rank):
        target_axes = target.axes_of(dimension)
        while (axes := builder.sharding.axes_of(dimension)) != target_axes[: len(axes)]:
            UnsplitLastAxis(dimension).apply(builder)
    for dimension in range(rank):
        for axis in target.axes_of(dimension)[len(builder.sharding.axes_of(dimension)) :]:
            SplitLastAxis(dimension, axis).apply(builder)


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
