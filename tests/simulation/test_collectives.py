"""Simulates each collective, with results worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sdyopt.mlir.ir.types import RankedTensor
from tests.simulation.collectives import COLLECTIVES, run_collective
from tests.simulation.programs import function_of, read
from tests.simulation.shards import Tensor

MESHES = """
    sdy.mesh @line = <["x"=4]>
    sdy.mesh @grid = <["x"=2, "y"=3]>
    sdy.mesh @reversed = <["x"=4], device_ids=[3, 2, 1, 0]>
"""
_ = np.nan

# Sharding of the operand, operation, type, shards of the operand by device, shards of the result by device.
CASES = [
    ('@line, [{"x"}]', 'all_gather [{"x"}] out_sharding=<@line, [{}]>', "tensor<8xf32>",
     [[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 1, 2, 3, 4, 5, 6, 7]] * 4),
    # The minor half of the axis: devices 0 and 1, devices 2 and 3.
    ('@line, [{"x"}]', 'all_gather [{"x":(2)2}] out_sharding=<@line, [{"x":(1)2}]>', "tensor<8xf32>",
     [[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 1, 2, 3]] * 2 + [[4, 5, 6, 7]] * 2),
    # Axis y is major, so the shards along x are adjacent.
    ('@grid, [{"y", "x"}]', 'all_gather [{"y", "x"}] out_sharding=<@grid, [{}]>', "tensor<6xf32>",
     [[0], [2], [4], [1], [3], [5]], [[0, 1, 2, 3, 4, 5]] * 6),
    # Size 5 in four shards, with boundaries at 2 and 4. With two shards, the boundary is at 3:
    # element 3 moves from devices 0 and 1 to devices 2 and 3.
    ('@line, [{"x"}]', 'all_gather [{"x":(2)2}] out_sharding=<@line, [{"x":(1)2}]>', "tensor<5xf32>",
     [[0, 1], [2, 3], [4, _], [_, _]], [[0, 1, 2]] * 2 + [[3, 4, _]] * 2),
    ('@line, [{}]', 'all_slice [{"x"}] out_sharding=<@line, [{"x"}]>', "tensor<8xf32>",
     [[0, 1, 2, 3, 4, 5, 6, 7]] * 4, [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ('@line, [{"x":(1)2}]', 'all_slice [{"x":(2)2}] out_sharding=<@line, [{"x"}]>', "tensor<5xf32>",
     [[0, 1, 2]] * 2 + [[3, 4, _]] * 2, [[0, 1], [2, 3], [4, _], [_, _]]),
    ('@line, [{"x"}, {}]', 'all_to_all [{"x"}: 0->1] out_sharding=<@line, [{}, {"x"}]>', "tensor<4x4xf32>",
     [[[10, 11, 12, 13]], [[20, 21, 22, 23]], [[30, 31, 32, 33]], [[40, 41, 42, 43]]],
     [[[10], [20], [30], [40]], [[11], [21], [31], [41]],
      [[12], [22], [32], [42]], [[13], [23], [33], [43]]]),
    # Devices 1 and 2 swap their shards.
    ('@line, [{"x":(1)2}]', 'collective_permute out_sharding=<@line, [{"x":(2)2}]>', "tensor<4xf32>",
     [[0, 1], [0, 1], [2, 3], [2, 3]], [[0, 1], [2, 3], [0, 1], [2, 3]]),
    # Device 3 is the first of the other mesh.
    ('@line, [{"x"}]', 'collective_permute out_sharding=<@reversed, [{"x"}]>', "tensor<4xf32>",
     [[0], [1], [2], [3]], [[3], [2], [1], [0]]),
    ('@grid, [{}], unreduced={"y"}', 'all_reduce {"y"} out_sharding=<@grid, [{}]>', "tensor<1xf32>",
     [[1], [2], [3], [10], [20], [30]], [[6]] * 3 + [[60]] * 3),
    ('@grid, [{}], unreduced={"x"}', 'reduce_scatter [{"x"}] out_sharding=<@grid, [{"x"}]>', "tensor<4xf32>",
     [[1, 2, 3, 4]] * 3 + [[10, 20, 30, 40]] * 3, [[11, 22]] * 3 + [[33, 44]] * 3),
    ('@grid, [{"x"}]', 'sharded_to_unreduced [{"x"}] out_sharding=<@grid, [{}], unreduced={"x"}>',
     "tensor<4xf32>",
     [[1, 2]] * 3 + [[3, 4]] * 3, [[1, 2, 0, 0]] * 3 + [[0, 0, 3, 4]] * 3),
    ('@grid, [{}]', 'replicated_to_unreduced {"y"} out_sharding=<@grid, [{}], unreduced={"y"}>',
     "tensor<1xf32>",
     [[7]] * 6, [[7], [0], [0]] * 2),
]  # fmt: skip


@pytest.mark.parametrize(("before", "text", "type", "shards", "expected"), CASES, ids=[c[1] for c in CASES])
def test_each_collective_gives_the_expected_shards(
    before: str, text: str, type: str, shards: list[object], expected: list[object]
) -> None:
    operation_text, _, sharding = text.partition(" out_sharding")
    module = read(f"""
        {MESHES}
        func.func @f(%a: {type} {{sdy.sharding = #sdy.sharding<{before}>}}) -> {type} {{
          %0 = sdy.{operation_text} %a out_sharding{sharding} : {type}
          return %0 : {type}
        }}""")
    function = function_of(module)
    operation = next(function.entry.ops)
    value_type = operation.results[0].type
    assert isinstance(value_type, RankedTensor)
    result = run_collective(operation, Tensor(value_type.shape, np.array(shards, dtype=float)))
    np.testing.assert_array_equal(result.shards, np.array(expected, dtype=float))


def test_every_collective_is_tested() -> None:
    assert {f"sdy.{case[1].split()[0]}" for case in CASES} == set(COLLECTIVES)
