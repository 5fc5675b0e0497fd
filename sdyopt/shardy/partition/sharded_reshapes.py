"""Which dimensions of a reshape have the same shards before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from sdyopt.mlir.dialects.sdy.axes import AxisRef, with_axes
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_types import Axes, LocalTypes
from sdyopt.shardy.partition.replication import Dim
from sdyopt.shardy.partition.reshape_groups import reshape_groups


class ReshapeGroup(NamedTuple):
    """Dimensions of the operand, and those of the result that they become.

    `crossing` are those that must not be sharded if the shards of the operand are reshaped one by one.
    """

    operand_dims: Sequence[int]
    result_dims: Sequence[int]
    crossing: Sequence[Dim]


def groups_of_reshape(op: ReshapeOp, types: LocalTypes) -> Iterator[ReshapeGroup]:
    """The groups of a reshape of a tensor that is not empty."""
    values = (op.operands[0], op.results[0])
    shapes = [shape_of(value) for value in values]
    axes = [types.axes_per_dim(value) for value in values]
    for dims in reshape_groups(*shapes):
        kept = [[dim for dim in each if shape[dim] != 1] for each, shape in zip(dims, shapes, strict=True)]
        is_kept = len(kept[0]) == len(kept[1]) == 1 and axes[0][kept[0][0]] == axes[1][kept[1][0]]
        numbered = [Dim(number, dim) for number, each in enumerate(dims) for dim in each]
        blocks = [_blocks(value, each, types) for value, each in zip(values, dims, strict=True)]
        shards = [consecutive_shards(value, each, types) for value, each in zip(values, dims, strict=True)]
        if is_kept:
            # Dimensions of size 1 next to a dimension that is kept.
            numbered = [each for each in numbered if shapes[each.tensor][each.dim] == 1]
        elif any(before is not None and before == after for before, after in (blocks, shards)):
            numbered = []
        sharded = [each for each in numbered if axes[each.tensor][each.dim]]
        yield ReshapeGroup(*dims, sharded)


class ConsecutiveShards(NamedTuple):
    """The axes along which the elements of some dimensions are cut into shards of `size`, in row-major order.

    The last shards may be smaller.
    """

    axes: Axes
    size: int


def consecutive_shards(value: Value, dims: Sequence[int], types: LocalTypes) -> ConsecutiveShards | None:
    """The shards of some dimensions, if only the first that is larger than 1 is sharded; else None."""
    axes_per_dim, shape = types.axes_per_dim(value), shape_of(value)
    sharded = [dim for dim in dims if axes_per_dim[dim]]
    first = next((dim for dim in dims if shape[dim] != 1), None)
    if sharded != [first]:
        return None
    sizes = [types.shard_size(shape[dim], axes_per_dim[dim], value) for dim in dims]
    return ConsecutiveShards(axes_per_dim[sharded[0]], prod(sizes))


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
