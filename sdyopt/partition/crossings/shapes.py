"""reshape: dimensions that are split or merged must have even shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.partition.local_builder import shape_of
from sdyopt.partition.local_types import LocalTypes
from sdyopt.partition.replication import Dim, crosses_shards

_Groups = tuple[list[int], list[int]]


@crosses_shards(ReshapeOp)
def reshape(op: ReshapeOp, types: LocalTypes) -> Iterator[Dim]:
    """The dimensions of each group that is split or merged and has a dimension with uneven shards."""
    values = (op.operands[0], op.results[0])
    shapes = [shape_of(value) for value in values]
    axes = [types.axes_per_dim(value) for value in values]
    if 0 in shapes[0]:
        return
    for groups in _groups(*shapes):
        kept = [[dim for dim in dims if shape[dim] != 1] for dims, shape in zip(groups, shapes, strict=True)]
        if len(kept[0]) == len(kept[1]) == 1 and axes[0][kept[0][0]] == axes[1][kept[1][0]]:
            continue
        uneven = any(
            shape[dim] % types.shard_count(axes_per_dim[dim], value)
            for value, shape, axes_per_dim, dims in zip(values, shapes, axes, groups, strict=True)
            for dim in dims
        )
        if uneven:
            yield from (Dim(number, dim) for number, dims in enumerate(groups) for dim in dims)


def _groups(shape: Sequence[int], result_shape: Sequence[int]) -> Iterator[_Groups]:
    """The smallest ranges of dimensions of both shapes with equal numbers of elements."""
    groups: _Groups = ([], [])
    products, remaining = [1, 1], [list(enumerate(shape)), list(enumerate(result_shape))]
    while any(remaining):
        side = 0 if remaining[0] and (products[0] <= products[1] or not remaining[1]) else 1
        dim, size = remaining[side].pop(0)
        groups[side].append(dim)
        products[side] *= size
        if products[0] == products[1]:
            yield groups
            groups, products = ([], []), [1, 1]
