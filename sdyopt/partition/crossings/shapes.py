"""reshape and broadcast_in_dim: dimensions that cannot be split, merged or expanded within shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.dialects.sdy.axes import AxisRef, with_axes
from sdyopt.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.ir.value import Value
from sdyopt.partition.local_builder import shape_of
from sdyopt.partition.local_types import Axes, LocalTypes
from sdyopt.partition.replication import Dim, all_dims, crosses_shards
from sdyopt.partition.reshape_groups import reshape_groups


@crosses_shards(ReshapeOp)
def reshape(op: ReshapeOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions that are split or merged, unless both sides have the same blocks of elements.

    Also dimensions of size 1 next to a dimension that is kept.
    """
    values = (op.operands[0], op.results[0])
    shapes = [shape_of(value) for value in values]
    axes = [types.axes_per_dim(value) for value in values]
    if 0 in shapes[0]:
        yield from all_dims(op)
        return
    for groups in reshape_groups(*shapes):
        kept = [[dim for dim in dims if shape[dim] != 1] for dims, shape in zip(groups, shapes, strict=True)]
        is_kept = len(kept[0]) == len(kept[1]) == 1 and axes[0][kept[0][0]] == axes[1][kept[1][0]]
        ones = [Dim(n, dim) for n, dims in enumerate(groups) for dim in dims if shapes[n][dim] == 1]
        if is_kept:
            yield from ones
            continue
        blocks = [_blocks(value, dims, types) for value, dims in zip(values, groups, strict=True)]
        if blocks[0] is None or blocks[0] != blocks[1]:
            yield from (Dim(number, dim) for number, dims in enumerate(groups) for dim in dims)


def _blocks(value: Value, dims: Sequence[int], types: LocalTypes) -> Axes | None:
    """The axes along which the elements of some dimensions, in row-major order, are cut into equal blocks.

    None if the shards are not such blocks: the size of a sharded dimension is not divisible, or a dimension
    before it has shards of more than one element.
    """
    shape, axes_per_dim = shape_of(value), types.axes_per_dim(value)
    blocks: tuple[AxisRef, ...] = ()
    is_complete = True
    for dim in dims:
        axes = axes_per_dim[dim]
        count = types.shard_count(axes, value)
        if count == 1:
            is_complete = is_complete and shape[dim] == 1
            continue
        if not is_complete or shape[dim] % count:
            return None
        is_complete = shape[dim] == count
        sharding = types.sharding(value)
        mesh = None if sharding is None else types.mesh(sharding)
        assert mesh is not None
        blocks = with_axes(blocks, axes, mesh)
    return blocks


@crosses_shards(BroadcastInDimOp)
def broadcast_in_dim(op: BroadcastInDimOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions of size 1: all their shards but the first are padding."""
    for dim, result_dim in enumerate(op.broadcast_dimensions):
        if shape_of(op.operand)[dim] == 1:
            yield Dim(0, dim)
            if shape_of(op.results[0])[result_dim] == 1:
                yield Dim(1, result_dim)
