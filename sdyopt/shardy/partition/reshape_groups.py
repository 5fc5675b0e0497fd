"""Which dimensions of a reshape correspond."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Groups = tuple[list[int], list[int]]


def reshape_groups(shape: Sequence[int], result_shape: Sequence[int]) -> Iterator[Groups]:
    """The smallest ranges of dimensions of both shapes with equal numbers of elements."""
    groups: Groups = ([], [])
    products, remaining = [1, 1], [list(enumerate(shape)), list(enumerate(result_shape))]
    while any(remaining):
        side = 0 if remaining[0] and (products[0] <= products[1] or not remaining[1]) else 1
        dim, size = remaining[side].pop(0)
        groups[side].append(dim)
        products[side] *= size
        if products[0] == products[1]:
            yield groups
            groups, products = ([], []), [1, 1]
