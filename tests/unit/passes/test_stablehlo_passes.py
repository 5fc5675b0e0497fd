"""Passes of MLIR and StableHLO give the output of jaxlib's, on the programs of their lit tests."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sdyopt
from sdyopt.base.releases import NEWEST
from tests.harness.reference import release_in

LIT = Path(__file__).parents[2] / "lit"
PROGRAM = """
import json, sys
from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo
stablehlo.register_stablehlo_passes()
pipeline, programs = json.load(sys.stdin)
printed = []
for program in programs:
    with mlir.make_ir_context():
        module = ir.Module.parse(program)
        passmanager.PassManager.parse(pipeline).run(module.operation)
        printed.append(str(module))
json.dump(printed, sys.stdout)
"""
# Programs on which C++ fails, or differs as docs/differences.md says.
LEFT_OUT = re.compile("@branches|@broadcasts|@public|@others|sdy.sharding_per_value")


@pytest.mark.reference
@pytest.mark.parametrize(
    ("path", "pipeline"),
    [
        ("common/loop_invariant_code_motion.mlir", "builtin.module(loop-invariant-code-motion)"),
        ("common/remove_dead_values.mlir", "builtin.module(remove-dead-values)"),
        (
            "stablehlo/canonicalize_dynamism.mlir",
            "builtin.module(func.func(stablehlo-canonicalize-dynamism))",
        ),
        (
            "stablehlo/chlo_legalize_to_stablehlo.mlir",
            "builtin.module(func.func(chlo-legalize-to-stablehlo))",
        ),
        (
            "stablehlo/refine_arguments.mlir",
            "builtin.module(stablehlo-refine-arguments{types=tensor<4x8xf32>,tensor<f32>})",
        ),
        ("stablehlo/refine_shapes.mlir", "builtin.module(stablehlo-refine-shapes)"),
    ],
)
def test_output_is_that_of_jaxlib(path: str, pipeline: str) -> None:
    if release_in(sys.executable) != NEWEST.name:
        pytest.skip("earlier releases have other passes")
    programs = [
        function
        for chunk in re.split(r"(?m)^// -----$", (LIT / path).read_text(encoding="utf-8"))
        for function in ([chunk] if "call @" in chunk else re.split(r"(?m)^(?=func\.func)", chunk))
        if re.search(r"(?m)^func\.func", function) and not LEFT_OUT.search(function)
    ]
    assert programs
    given = json.dumps([pipeline, programs])
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    for program, theirs in zip(programs, json.loads(done.stdout), strict=True):
        assert sdyopt.parse(program).run(pipeline).as_text().strip() == theirs.strip()
