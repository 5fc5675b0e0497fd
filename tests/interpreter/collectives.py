"""Collectives between devices that run in lockstep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from tests.interpreter.arrays import Array
from tests.interpreter.operations import Body

# (operation, operands per device, regions, number of devices) -> results per device
Collective = Callable[[Any, list[list[Array]], Sequence[Body], int], list[list[Array]]]


def _groups(op: Any) -> list[list[int]]:
    rows, columns = op.replica_groups.type.shape
    numbers = integers_of(op.replica_groups)
    return [
        [each for each in numbers[row * columns : (row + 1) * columns] if each >= 0] for row in range(rows)
    ]


def _in_groups(op: Any, operand: list[Array], function: Callable[[list[Array], int], Array]) -> list[Array]:
    """Calls a function with the arrays of each group, and the position of a device in it."""
    result = list(operand)
    for group in _groups(op):
        arrays = [operand[device] for device in group]
        for position, device in enumerate(group):
            result[device] = function(arrays, position)
    return result


def _sum(arrays: Sequence[Array], body: Body) -> Array:
    total, *others = arrays
    for other in others:
        total = body(total, other)
    return total


def _all_gather(
    op: Any, operands: list[list[Array]], bodies: Sequence[Body], devices: int
) -> list[list[Array]]:
    dim = op.all_gather_dim
    return [_in_groups(op, each, lambda arrays, position: np.concatenate(arrays, dim)) for each in operands]


def _all_reduce(
    op: Any, operands: list[list[Array]], bodies: Sequence[Body], devices: int
) -> list[list[Array]]:
    return [_in_groups(op, each, lambda arrays, position: _sum(arrays, bodies[0])) for each in operands]


def _reduce_scatter(
    op: Any, operands: list[list[Array]], bodies: Sequence[Body], devices: int
) -> list[list[Array]]:
    dim = op.scatter_dimension

    def function(arrays: list[Array], position: int) -> Array:
        return np.split(_sum(arrays, bodies[0]), len(arrays), dim)[position]

    return [_in_groups(op, operands[0], function)]


def _all_to_all(
    op: Any, operands: list[list[Array]], bodies: Sequence[Body], devices: int
) -> list[list[Array]]:
    split, joined = op.split_dimension, op.concat_dimension

    def function(arrays: list[Array], position: int) -> Array:
        return np.concatenate([np.split(each, len(arrays), split)[position] for each in arrays], joined)

    return [_in_groups(op, each, function) for each in operands]


def _collective_permute(
    op: Any, operands: list[list[Array]], bodies: Sequence[Body], devices: int
) -> list[list[Array]]:
    numbers = integers_of(op.source_target_pairs)
    result = [np.zeros_like(each) for each in operands[0]]
    for source, target in zip(numbers[::2], numbers[1::2], strict=True):
        result[target] = operands[0][source]
    return [result]


def _partition_id(
    op: Any, operands: list[list[Array]], bodies: Sequence[Body], devices: int
) -> list[list[Array]]:
    return [[np.array(device, np.uint32) for device in range(devices)]]


COLLECTIVES: dict[str, Collective] = {
    "stablehlo.all_gather": _all_gather,
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.collective_permute": _collective_permute,
    "stablehlo.partition_id": _partition_id,
    "stablehlo.reduce_scatter": _reduce_scatter,
}
