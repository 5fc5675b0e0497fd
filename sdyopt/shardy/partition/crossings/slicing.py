"""slice, pad, dynamic_update_slice and scatter: no communication if every element stays in its shard."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicUpdateSliceOp, SliceOp
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards


@crosses_shards(SliceOp)
def slice(op: SliceOp, types: LocalTypes) -> Iterator[Dim]:
    """A slice from 0 on may drop the last elements if it only slices each shard."""
    sizes, result_sizes = shape_of(op.operand), shape_of(op.out)
    for dim, axes in enumerate(types.axes_per_dim(op.operand)):
        if axes != types.axes_per_dim(op.out)[dim]:
            yield from both(dim)
            continue
        shards = types.shard_count(axes, op.operand)
        size = -(-sizes[dim] // shards)
        stride = op.strides[dim]
        if op.start_indices[dim] or size % stride or size // stride != -(-result_sizes[dim] // shards):
            yield from both(dim)


@crosses_shards(PadOp)
def pad(op: PadOp, types: LocalTypes) -> Iterator[Dim]:
    """Padding may be between the elements of each shard, or at the ends of the whole tensor."""
    for dim, axes in enumerate(types.axes_per_dim(op.operand)):
        if axes != types.axes_per_dim(op.out)[dim] or not pad_stays(
            op, dim, types.shard_count(axes, op.operand)
        ):
            yield from both(dim)


@crosses_shards(DynamicUpdateSliceOp)
def dynamic_update_slice(op: DynamicUpdateSliceOp, types: LocalTypes) -> Iterator[Dim]:
    """Every device needs the whole update along dimensions of which the update covers only a part."""
    for dim, (size, update_size) in enumerate(zip(shape_of(op.operand), shape_of(op.update), strict=True)):
        if size != update_size:
            yield Dim(1, dim)


@crosses_shards(ScatterOp)
def scatter(op: ScatterOp, types: LocalTypes) -> Iterator[Dim]:
    """The dimensions by the rule, and those of inputs and results that are neither indexed nor in windows.

    Without indexed dimensions every update counts, so that there is no index for updates in the padding.
    """
    yield from by_rule(op, types)
    dims, count = op.scatter_dimension_numbers, len(op.inputs)
    if not dims.scatter_dims_to_operand_dims:
        rank = len(shape_of(op.scatter_indices))
        index_dims = [dim for dim in range(rank) if dim != dims.index_vector_dim]
        update_dims = [
            dim for dim in range(len(shape_of(op.updates[0]))) if dim not in dims.update_window_dims
        ]
        for index_dim, update_dim in zip(index_dims, update_dims, strict=True):
            if index_dim not in dims.scatter_indices_batching_dims:
                yield Dim(count, index_dim)
                for number in range(count):
                    yield Dim(count + 1 + number, update_dim)
    for dim in dims.inserted_window_dims:
        if dim not in dims.scatter_dims_to_operand_dims:
            for number in range(count):
                yield Dim(number, dim)
                yield Dim(2 * count + 1 + number, dim)


def pad_stays(op: PadOp, dim: int, shards: int) -> bool:
    """Whether padding a dimension with this many shards leaves every element in its shard."""
    low, high, interior = op.edge_padding_low[dim], op.edge_padding_high[dim], op.interior_padding[dim]
    if shards == 1 or (low, high, interior) == (0, 0, 0):
        return True
    size, remainder = divmod(shape_of(op.operand)[dim], shards)
    result_size, result_remainder = divmod(shape_of(op.out)[dim], shards)
    if remainder or result_remainder:
        return False
    extent = size + (size - 1) * interior
    step = size * (interior + 1) - result_size

    def starts_before(shard: int) -> bool:
        return low + shard * step < 0

    def ends_after(shard: int) -> bool:
        return low + shard * step + extent > result_size

    # Starts and ends are linear in the number of the shard.
    inner = (starts_before(1), starts_before(shards - 1), ends_after(0), ends_after(shards - 2))
    return not any(inner)


def both(dim: int) -> Iterator[Dim]:
    """A dimension of the first operand, and of the last result."""
    yield Dim(0, dim)
    yield Dim(-1, dim)
