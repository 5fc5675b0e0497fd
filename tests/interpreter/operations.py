"""Elementwise operations, and those that make, move, contract or reduce tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdyopt.mlir.ir.operation import Op
from tests.interpreter.arrays import Array, constant, dtype_of

Body = Callable[..., Array]
# (operation, operands, regions) -> results
Function = Callable[[Any, list[Array], Sequence[Body]], Sequence[Array]]

_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def _divide(first: Array, second: Array) -> Array:
    """Division of integers truncates."""
    if first.dtype.kind == "f":
        return np.divide(first, second)
    return np.asarray(np.sign(first) * np.sign(second) * (np.abs(first) // np.abs(second))).astype(
        first.dtype
    )


_ELEMENTWISE: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "add": np.add,
    "and": lambda a, b: a & b,
    "clamp": lambda low, a, high: np.minimum(np.maximum(a, low), high),
    "divide": _divide,
    "exponential": np.exp,
    "floor": np.floor,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "negate": np.negative,
    "not": lambda a: ~a,
    "or": lambda a, b: a | b,
    "power": np.power,
    "remainder": np.fmod,
    "select": np.where,
    "subtract": np.subtract,
    "xor": lambda a, b: a ^ b,
}


def _elementwise(function: Callable[..., Array]) -> Function:
    return lambda op, operands, bodies: [np.asarray(function(*operands)).astype(operands[-1].dtype)]


def _iota(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    type = op.results[0].type
    dim = op.iota_dimension
    line = np.arange(type.shape[dim]).reshape([-1 if d == dim else 1 for d in range(type.rank)])
    return [np.broadcast_to(line, type.shape).astype(dtype_of(type))]


def _broadcast(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    (array,), shape = operands, op.results[0].type.shape
    lines = [1] * len(shape)
    for dim, target in enumerate(op.broadcast_dimensions):
        lines[target] = array.shape[dim]
    order = np.argsort(op.broadcast_dimensions, kind="stable")
    return [np.broadcast_to(array.transpose(order).reshape(lines), shape)]


def _slice(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    ranges = zip(op.start_indices, op.limit_indices, op.strides, strict=True)
    return [operands[0][tuple(slice(*each) for each in ranges)]]


def _reverse(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    return [np.flip(operands[0], tuple(op.dimensions))]


def pad(
    array: Array, value: Array, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> Array:
    """Pads with a value; negative padding removes elements."""
    sizes = [size + max(0, size - 1) * gap for size, gap in zip(array.shape, interior, strict=True)]
    dilated = np.full(sizes, value, array.dtype)
    dilated[tuple(slice(None, None, gap + 1) for gap in interior)] = array
    widths = [(max(0, first), max(0, last)) for first, last in zip(low, high, strict=True)]
    padded = np.pad(dilated, widths, constant_values=value) if widths else dilated
    ranges = zip(low, high, padded.shape, strict=True)
    return padded[tuple(slice(max(0, -first), size - max(0, -last)) for first, last, size in ranges)]


def _pad(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    array, value = operands
    return [pad(array, value, op.edge_padding_low, op.edge_padding_high, op.interior_padding)]


def _dot_general(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    dims = op.dot_dimension_numbers
    lhs, rhs = operands
    batch = list(zip(dims.lhs_batching_dimensions, dims.rhs_batching_dimensions, strict=True))
    contracted = list(zip(dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions, strict=True))
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    names = [[""] * lhs.ndim, [""] * rhs.ndim]
    for left, right in batch + contracted:
        names[0][left] = names[1][right] = next(letters)
    for side in names:
        side[:] = [name or next(letters) for name in side]
    shared = {names[0][left] for left, _ in batch + contracted}
    result = [names[0][left] for left, _ in batch]
    result += [name for side in names for name in side if name not in shared]
    return [np.einsum(f"{''.join(names[0])},{''.join(names[1])}->{''.join(result)}", lhs, rhs)]


def _reduce(op: Any, operands: list[Array], bodies: Sequence[Body]) -> Sequence[Array]:
    array, init = operands
    moved = np.moveaxis(array, tuple(op.dimensions), range(len(op.dimensions)))
    kept = moved.shape[len(op.dimensions) :]
    result = np.broadcast_to(init, kept)
    for part in moved.reshape(-1, *kept):
        result = bodies[0](result, part)
    return [result]


def _type_of(op: Op) -> Any:
    return op.results[0].type


OPERATIONS: dict[str, Function] = {
    "stablehlo.constant": lambda op, operands, bodies: [constant(op.value)],
    "stablehlo.iota": _iota,
    "stablehlo.compare": lambda op, operands, bodies: [
        _COMPARISONS[op.comparison_direction.value](*operands)
    ],
    "stablehlo.convert": lambda op, operands, bodies: [operands[0].astype(dtype_of(_type_of(op)))],
    "stablehlo.reshape": lambda op, operands, bodies: [operands[0].reshape(_type_of(op).shape)],
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.transpose": lambda op, operands, bodies: [operands[0].transpose(op.permutation)],
    "stablehlo.concatenate": lambda op, operands, bodies: [np.concatenate(operands, op.dimension)],
    "stablehlo.slice": _slice,
    "stablehlo.reverse": _reverse,
    "stablehlo.pad": _pad,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.reduce": _reduce,
    **{f"stablehlo.{name}": _elementwise(function) for name, function in _ELEMENTWISE.items()},
}
