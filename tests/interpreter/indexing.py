"""Dynamic slices, gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from tests.interpreter.arrays import Array
from tests.interpreter.operations import Body, Function


def _clamped(starts: Sequence[Array], shape: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    """The slice of these sizes at the starts, moved so that it is inside."""
    limits = [
        (min(max(int(start), 0), size - part), part)
        for start, size, part in zip(starts, shape, sizes, strict=True)
    ]
    return tuple(slice(start, start + part) for start, part in limits)


def _dynamic_slice(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    array, *starts = operands
    return [array[_clamped(starts, array.shape, op.slice_sizes)]]


def _dynamic_update_slice(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    array, update, *starts = operands
    result = array.copy()
    result[_clamped(starts, array.shape, update.shape)] = update
    return [result]


def _gather(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    array, indices = operands
    dims = op.dimension_numbers
    shape = op.results[0].type.shape
    batch_dims = [dim for dim in range(len(shape)) if dim not in dims.offset_dims]
    dropped = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
    kept = [dim for dim in range(array.ndim) if dim not in dropped]
    result = np.zeros(shape, array.dtype)
    for position in product(*map(range, shape)):
        batch = [position[dim] for dim in batch_dims]
        index = _start(indices, batch, dims.index_vector_dim)
        start = [0] * array.ndim
        for number, dim in enumerate(dims.start_index_map):
            limit = array.shape[dim] - op.slice_sizes[dim]
            start[dim] = min(max(int(index[number]), 0), limit)
        batching = zip(dims.operand_batching_dims, dims.start_indices_batching_dims, strict=True)
        for dim, index_dim in batching:
            start[dim] = batch[index_dim - (index_dim > dims.index_vector_dim)]
        for dim, result_dim in zip(kept, dims.offset_dims, strict=True):
            start[dim] += position[result_dim]
        result[position] = array[tuple(start)]
    return [result]


def _start(indices: Array, batch: Sequence[int], vector_dim: int) -> Array:
    """The index vector at a position of the other dimensions."""
    if vector_dim == indices.ndim:
        return np.asarray(indices[tuple(batch)]).reshape(1)
    return np.asarray(np.moveaxis(indices, vector_dim, -1)[tuple(batch)])


def _scatter(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    array, indices, updates = operands
    dims = op.scatter_dimension_numbers
    result = array.copy()
    scatter_dims = [dim for dim in range(updates.ndim) if dim not in dims.update_window_dims]
    dropped = {*dims.inserted_window_dims, *dims.input_batching_dims}
    kept = [dim for dim in range(array.ndim) if dim not in dropped]
    for position in product(*map(range, updates.shape)):
        batch = [position[dim] for dim in scatter_dims]
        index = _start(indices, batch, dims.index_vector_dim)
        target = [0] * array.ndim
        for number, dim in enumerate(dims.scatter_dims_to_operand_dims):
            target[dim] = int(index[number])
        batching = zip(dims.input_batching_dims, dims.scatter_indices_batching_dims, strict=True)
        for dim, index_dim in batching:
            target[dim] = batch[index_dim - (index_dim > dims.index_vector_dim)]
        for dim, update_dim in zip(kept, dims.update_window_dims, strict=True):
            target[dim] += position[update_dim]
        if all(0 <= each < size for each, size in zip(target, array.shape, strict=True)):
            result[tuple(target)] = bodies[0](result[tuple(target)], updates[position])
    return [result]


INDEXING: dict[str, Function] = {
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
}
