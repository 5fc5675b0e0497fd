"""Convolution, reduce_window and select_and_scatter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from tests.interpreter.arrays import Array
from tests.interpreter.operations import Body, Function, pad


def _padding(op: Any, rank: int) -> tuple[list[int], list[int]]:
    numbers = integers_of(op.padding) if op.padding is not None else [0] * (2 * rank)
    return list(numbers[::2]), list(numbers[1::2])


def _ones(values: Sequence[int] | None, rank: int) -> list[int]:
    return list(values) if values else [1] * rank


def _convolution(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    dims = op.dimension_numbers
    lhs = operands[0].transpose(dims.input)
    rhs = operands[1].transpose(dims.kernel)
    rank = lhs.ndim - 2
    low, high = _padding(op, rank)
    lhs = pad(
        lhs, np.array(0), [0, 0, *low], [0, 0, *high], [0, 0, *[d - 1 for d in _ones(op.lhs_dilation, rank)]]
    )
    gaps = [d - 1 for d in _ones(op.rhs_dilation, rank)]
    if op.window_reversal:
        reversed_dims = [2 + dim for dim, each in enumerate(_booleans(op.window_reversal)) if each]
        rhs = np.flip(rhs, tuple(reversed_dims))
    rhs = pad(rhs, np.array(0), [0] * rhs.ndim, [0] * rhs.ndim, [0, 0, *gaps])
    groups, batches = op.feature_group_count, op.batch_group_count
    per_group = rhs.shape[1] // (groups * batches)
    strides = _ones(op.window_strides, rank)
    result = []
    for number in range(groups * batches):
        group, batch = (number, 0) if groups > 1 else (0, number)
        features = lhs.shape[1] // groups
        rows = lhs.shape[0] // batches
        part = lhs[batch * rows : (batch + 1) * rows, group * features : (group + 1) * features]
        kernel = rhs[:, number * per_group : (number + 1) * per_group]
        result.append(_slide(part, kernel, strides))
    shape = op.results[0].type.shape
    whole = np.concatenate(result, 1)
    order = [dims.output.index(dim) for dim in range(len(shape))]
    return [whole.transpose(order)]


def _slide(lhs: Array, rhs: Array, strides: Sequence[int]) -> Array:
    counts = [
        max(0, (size - window) // stride + 1)
        for size, window, stride in zip(lhs.shape[2:], rhs.shape[2:], strides, strict=True)
    ]
    result = np.zeros((lhs.shape[0], rhs.shape[1], *counts))
    whole = [slice(None), slice(None)]
    for position in product(*map(range, counts)):
        starts = [index * stride for index, stride in zip(position, strides, strict=True)]
        windows = [slice(start, start + size) for start, size in zip(starts, rhs.shape[2:], strict=True)]
        patch = lhs[tuple(whole + windows)]
        index: tuple[slice | int, ...] = (*whole, *position)
        result[index] = np.tensordot(patch, rhs, ([1, *range(2, lhs.ndim)], [0, *range(2, lhs.ndim)]))
    return result


def _booleans(value: Any) -> list[bool]:
    return [bool(each) for each in (value.data if hasattr(value, "data") else value)]


def _reduce_window(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    array, init = operands
    rank = array.ndim
    low, high = _padding(op, rank)
    array = pad(array, init, low, high, [d - 1 for d in _ones(op.base_dilations, rank)])
    dilations, strides = _ones(op.window_dilations, rank), _ones(op.window_strides, rank)
    shape = op.results[0].type.shape
    result = np.broadcast_to(init, shape)
    for offset in product(*map(range, op.window_dimensions)):
        starts = [index * dilation for index, dilation in zip(offset, dilations, strict=True)]
        slices = [
            slice(start, start + (count - 1) * stride + 1, stride) if count else slice(0, 0)
            for start, count, stride in zip(starts, shape, strides, strict=True)
        ]
        part = array[tuple(slices)]
        result = bodies[0](result, part)
    return [result]


def _select_and_scatter(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    array, source, init = operands
    rank = array.ndim
    low, _ = _padding(op, rank)
    strides, sizes = _ones(op.window_strides, rank), _ones(op.window_dimensions, rank)
    result = np.full(array.shape, init, array.dtype)
    for position in product(*map(range, source.shape)):
        starts = [i * stride - before for i, stride, before in zip(position, strides, low, strict=True)]
        selected: tuple[int, ...] | None = None
        for index in _inside(starts, sizes, array.shape):
            if selected is None or not bodies[0](array[selected], array[index]):
                selected = index
        if selected is not None:
            result[selected] = bodies[1](result[selected], source[position])
    return [result]


def _inside(starts: Sequence[int], sizes: Sequence[int], shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The indices of the elements of a window that are not padding."""
    ranges = [range(max(0, s), min(s + n, size)) for s, n, size in zip(starts, sizes, shape, strict=True)]
    for index in product(*ranges):
        yield tuple(index)


WINDOWS: dict[str, Function] = {
    "stablehlo.convolution": _convolution,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.select_and_scatter": _select_and_scatter,
}
