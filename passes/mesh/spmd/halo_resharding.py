"""Halos: what a device holds of its neighbours' parts besides its own."""

from __future__ import annotations

from typing import Unpack

from sdyopt.dialects.mesh.axes_array import AxesLists
from sdyopt.dialects.mesh.halo import UpdateHaloOp
from sdyopt.dialects.mesh.shard_shapes import local_type
from sdyopt.dialects.mesh.sharding import MeshSharding
from sdyopt.dialects.tensor.creation import EmptyOp
from sdyopt.dialects.tensor.slices import (
    ExtractSliceOp,
    InsertSliceOp,
    Mixed,
    slice_parts,
    with_segments,
)
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.insertion_point import InsertionPoint
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import DYNAMIC, I64, RankedTensor
from sdyopt.ir.value import Value


def reshard_halos(
    rewriter: Rewriter,
    value: Value,
    source: MeshSharding,
    target: MeshSharding,
    whole: RankedTensor,
    op: Op,
    **end: Unpack[InsertionPoint],
) -> Value:
    """The part with other halos: the core is put into a tensor of the new size, then neighbours are asked."""
    assert "at_end_of" in end or "before" in end
    old, new = local_type(whole, source, op), local_type(whole, target, op)
    if DYNAMIC in (*old.shape, *new.shape):
        raise op.error("halos of parts of unknown size are not supported")
    rank = whole.rank
    core = [size - sum(source.halo_of(dimension)) for dimension, size in enumerate(old.shape)]
    from_: Mixed = [source.halo_of(dimension)[0] for dimension in range(rank)]
    to: Mixed = [target.halo_of(dimension)[0] for dimension in range(rank)]
    sizes, ones = list[Value | int](core), list[Value | int]([1] * rank)
    core_type = RankedTensor(tuple(core), whole.element, whole.encoding)
    insertion_point = op.location
    _, cut = slice_parts(from_, sizes, ones)
    if not target.halo_sizes:
        part = rewriter.create(
            ExtractSliceOp, [value], [new], with_segments(cut, 1), location=insertion_point, **end
        )
        return part.results[0]
    empty = rewriter.create(EmptyOp, (), [new], location=insertion_point, **end)
    part = rewriter.create(
        ExtractSliceOp, [value], [core_type], with_segments(cut, 1), location=insertion_point, **end
    )
    _, put = slice_parts(to, sizes, ones)
    filled = rewriter.create(
        InsertSliceOp,
        [part.results[0], empty.results[0]],
        [new],
        with_segments(put, 2),
        location=insertion_point,
        **end,
    )
    attributes = {
        "mesh": target.mesh,
        "split_axes": AxesLists(target.split_axes),
        "static_halo_sizes": DenseArray(I64, target.halo_sizes),
    }
    update = op.dialect.ops["update_halo"]
    assert issubclass(update, UpdateHaloOp)
    made = rewriter.create(update, filled.results, [new], attributes, location=insertion_point, **end)
    return made.results[0]
