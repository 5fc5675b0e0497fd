"""Hand-computed results of each collective on a mesh of 2x3."""

from __future__ import annotations

import numpy as np
import pytest

from docs import device_groups
from tests.simulation.programs import function_of, read

from .simulation import SEMANTICS, Arrays, run

SHAPE = (2, 3)
DEVICES = device_groups.multi_indices(SHAPE)

# Device (i, j) has [10i + j, 100 + 10i + j], or six consecutive numbers starting from 10 * (3i + j).
X: Arrays = {(i, j): np.array([10 * i + j, 100 + 10 * i + j]) for i, j in DEVICES}
Y: Arrays = {(i, j): 10 * (3 * i + j) + np.arange(6) for i, j in DEVICES}

# Operation, argument, size of the result, and the results of the devices in order; None where undefined.
CASES = [
    ("all_gather {} mesh_axes = [1] gather_axis = 0", "x", 6,
     [[0, 100, 1, 101, 2, 102]] * 3 + [[10, 110, 11, 111, 12, 112]] * 3),
    ("all_gather {} mesh_axes = [0, 1] gather_axis = 0", "x", 12,
     [[0, 100, 1, 101, 2, 102, 10, 110, 11, 111, 12, 112]] * 6),
    ("all_gather {} mesh_axes = [1, 0] gather_axis = 0", "x", 12,
     [[0, 100, 10, 110, 1, 101, 11, 111, 2, 102, 12, 112]] * 6),
    ("all_reduce {} mesh_axes = [0]", "x", 2, [[10, 210], [12, 212], [14, 214]] * 2),
    ("gather {} mesh_axes = [0] gather_axis = 0 root = [1]", "x", 4,
     [None, None, None, [0, 100, 10, 110], [1, 101, 11, 111], [2, 102, 12, 112]]),
    ("broadcast {} mesh_axes = [0, 1] root = [1, 2]", "x", 2, [[12, 112]] * 6),
    ("shift {} mesh_axes = [1] shift_axis = 1 offset = 1", "x", 2,
     [None, [0, 100], [1, 101], None, [10, 110], [11, 111]]),
    ("shift {} mesh_axes = [1] shift_axis = 1 offset = 1 rotate", "x", 2,
     [[2, 102], [0, 100], [1, 101], [12, 112], [10, 110], [11, 111]]),
    ("all_slice {} mesh_axes = [1] slice_axis = 0", "y", 2,
     [[0, 1], [12, 13], [24, 25], [30, 31], [42, 43], [54, 55]]),
    ("all_slice {} mesh_axes = [1, 0] slice_axis = 0", "y", 1, [[0], [12], [24], [31], [43], [55]]),
    ("all_slice {} mesh_axes = [0, 1] slice_axis = 0", "y", 1, [[0], [11], [22], [33], [44], [55]]),
    ("all_to_all {} mesh_axes = [1] split_axis = 0 concat_axis = 0", "y", 6,
     [[0, 1, 10, 11, 20, 21], [2, 3, 12, 13, 22, 23], [4, 5, 14, 15, 24, 25],
      [30, 31, 40, 41, 50, 51], [32, 33, 42, 43, 52, 53], [34, 35, 44, 45, 54, 55]]),
    ("scatter {} mesh_axes = [1] scatter_axis = 0 root = [1]", "y", 2,
     [[10, 11], [12, 13], [14, 15], [40, 41], [42, 43], [44, 45]]),
    ("reduce_scatter {} mesh_axes = [0] scatter_axis = 0", "y", 3,
     [[30, 32, 34], [50, 52, 54], [70, 72, 74], [36, 38, 40], [56, 58, 60], [76, 78, 80]]),
    ("reduce {} mesh_axes = [1] reduction = <max> root = [0]", "x", 2,
     [[2, 102], None, None, [12, 112], None, None]),
    ("send {} mesh_axes = [1] destination = [2]", "x", 2,
     [[0, 100], [1, 101], [2, 102], [10, 110], [11, 111], [12, 112]]),
    ("recv {} mesh_axes = [1] source = [2]", "x", 2, [[2, 102]] * 3 + [[12, 112]] * 3),
]  # fmt: skip


@pytest.mark.parametrize(("text", "argument", "size", "expected"), CASES, ids=[case[0] for case in CASES])
def test_each_device_has_the_expected_result(
    text: str, argument: str, size: int, expected: list[list[int] | None]
) -> None:
    values = X if argument == "x" else Y
    operand_type, result_type = f"tensor<{len(values[0, 0])}xi64>", f"tensor<{size}xi64>"
    name = text.split()[0]
    has_device_operands = name in ("broadcast", "gather", "recv", "reduce", "scatter", "send")
    printed_type = f"({operand_type})" if has_device_operands else operand_type
    module = read(f"""
        mesh.mesh @g(shape = 2x3)
        func.func @f(%a: {operand_type}) -> {result_type} {{
          %0 = mesh.{text.format("%a on @g")} : {printed_type} -> {result_type}
          return %0 : {result_type}
        }}""")
    (results,) = run(function_of(module), SHAPE, [values])
    for device, result in zip(DEVICES, expected, strict=True):
        if result is not None:
            assert results[device].tolist() == result


def test_every_collective_has_a_case() -> None:
    assert {f"mesh.{case[0].split()[0]}" for case in CASES} == {op.name for op in SEMANTICS}
