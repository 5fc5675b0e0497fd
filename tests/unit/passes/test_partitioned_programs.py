"""XLA compiles and runs what `-sdy-partition-pipeline` prints, as it is printed."""

import subprocess
import sys
from pathlib import Path

import pytest

import sdyopt

ROOT = Path(__file__).parents[3]
# Compiles a partitioned program for 8 devices, and prints the error of XLA, if there is one. The devices are
# replicas, so that XLA does not partition it again.
COMPILE = """
import sys
import jax
jax.config.update("jax_num_cpu_devices", 8)
from sdyopt.analysis.execution.worker.devices import Program
try:
    Program(sys.stdin.read(), 8, 1)
except Exception as error:
    print(error)
"""
WITHOUT_COMMUNICATION = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.sine %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.reference
def test_example_compiles_as_it_is_printed() -> None:
    assert_compiles((ROOT / "examples" / "mlp.mlir").read_text())


@pytest.mark.reference
def test_program_without_communication_compiles_with_its_mark() -> None:
    assert_compiles(WITHOUT_COMMUNICATION)


def assert_compiles(text: str) -> None:
    printed = str(sdyopt.parse(text).run("sdy-partition-pipeline"))
    assert "sdyopt.partitioned" in printed
    done = subprocess.run(
        [sys.executable, "-c", COMPILE],
        cwd=ROOT,
        input=printed,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == ""
