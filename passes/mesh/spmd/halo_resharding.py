"""Halo resharding: from a shard with some halo sizes to the same shard with other halo sizes."""

from __future__ import annotations

from typing import Unpack

from sdyopt.mlir.dialects.mesh.attributes import AxesLists, MeshSharding
from sdyopt.mlir.dialects.mesh.halo import UpdateHaloOp
from sdyopt.mlir.dialects.mesh.mesh_op import op_class_in
from sdyopt.mlir.dialects.mesh.shard_op import local_type
from sdyopt.mlir.dialects.tensor import (
    EmptyOp,
    ExtractSliceOp,
    InsertSliceOp,
    Mixed,
    operands_and_attributes,
    with_segments,
)
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I64, RankedTensor
from sdyopt.mlir.ir.value import Value


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
    attributes = {
        "mesh": target.mesh,
        "split_axes": AxesLists(target.split_axes),
        "static_halo_sizes": DenseArray(I64, target.halo_sizes),
    }
    update_halo = op_class_in(op.dialect, UpdateHaloOp)
    updated = rewriter.create(
        update_halo, inserted.results, [new], attributes, location=location, **insertion_point
    )
    return updated.results[0]
