"""What explanations compare changes by: the cost of a reshard that does not exist, and the memory there is.

The cost is that of the collectives in a report of the lowered program.
"""

from __future__ import annotations

import pytest

import sdyopt
from sdyopt.analysis.explain.advice import ExplainedChanges
from sdyopt.analysis.explain.collective_answers import reshard_bytes
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.registry import all_dialects, find_dialect

PROGRAM = """
sdy.mesh @m = <["x"=2, "y"=4, "z"=2]>
func.func @main(
    %a: tensor<64x64x64xf32> {{sdy.sharding = #sdy.sharding<@m, [{source}]>}}
) -> tensor<64x64x64xf32> {{
  %0 = sdy.reshard %a <@m, [{target}]> : tensor<64x64x64xf32>
  return %0 : tensor<64x64x64xf32>
}}
"""


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ('{"x", "y"}, {}, {}', '{"x"}, {}, {}'),
        ('{"x", "y"}, {}, {}', '{"x"}, {"y"}, {}'),
        ('{"x"}, {"z"}, {}', '{"z"}, {"x"}, {}'),
        ('{"x", "z"}, {"y"}, {}', '{"y"}, {"x"}, {"z"}'),
        ('{"x"}, {"y"}, {}', '{"z"}, {"y"}, {}'),
        ('{}, {}, {}', '{"x"}, {"y"}, {}'),
    ],
)  # fmt: skip
def test_the_cost_of_a_reshard_is_that_of_its_collectives(source: str, target: str) -> None:
    text = PROGRAM.format(source=source, target=target)
    module = sdyopt.parse(text)
    op = next(op for op in module.ir.walk() if isinstance(op, ReshardOp))
    mesh, before = find_mesh(op.sharding.mesh_or_ref, op), sharding_of(op.input)
    assert mesh is not None
    assert before is not None
    cost = reshard_bytes(op.input.type, before, op.sharding, mesh, LocalShapes(module.ir))
    lowered = module.run("sdy-reshard-to-collectives")
    assert cost == sum(each.wire_bytes or 0 for each in lowered.report().collectives)


@pytest.mark.parametrize(
    ("given", "machine", "expected"),
    [(None, "", None), (7, "", 7), (None, "tpu-v5e", 63 << 28), (7, "tpu-v5e", 7)],
)
def test_a_device_has_the_memory_that_is_given_or_that_of_the_machine(
    given: int | None, machine: str, expected: int | None
) -> None:
    changes = ExplainedChanges(sdyopt.parse("module {}").ir, DialectTable(find_dialect, all_dialects))
    changes.memory, changes.machine = given, built_in_topology(machine) if machine else None
    assert changes._memory == expected
