"""Partitioning, execution and validation in the Python interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sdyopt
from tests.harness import xla

needs_jax = pytest.mark.skipif(not xla.is_installed(), reason="requires jax: pip install 'sdy-opt[run]'")

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x2xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %a, %a : tensor<4x2xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<4x2xf32>, tensor<f32>
}
"""  # noqa: E501


def test_partition_is_the_pipeline() -> None:
    module = sdyopt.parse(PROGRAM)
    assert str(module.partition()) == str(module.run("sdy-partition-pipeline"))
    assert "num_replicas = 2" in str(module.partition(replica_count=2))
    with pytest.raises(sdyopt.PipelineError):
        module.partition(no_such_option=1)


def test_execution_without_jax_is_an_error() -> None:
    with pytest.raises(sdyopt.ExecutionError, match="cannot run 'no-such-python'"):
        sdyopt.parse(PROGRAM).validate(python="no-such-python")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 0}, "seeds is at least 1, not 0"),
        ({"seeds": -1}, "seeds is at least 1, not -1"),
        ({"timeout": 0}, "timeout is at least 1, not 0"),
        ({"memory": 0}, "memory is at least 1, not 0"),
        ({"mode": "nonsense"}, "mode is 'replicas' or 'manual', not 'nonsense'"),
    ],
)
def test_values_of_options_are_checked(options: dict[str, Any], message: str) -> None:
    """Else nothing would be compared, and found equal."""
    with pytest.raises(ValueError, match=message):
        sdyopt.parse(PROGRAM).validate(**options)


@pytest.mark.parametrize("options", [{"seeds": 1.5}, {"seeds": True}, {"timeout": "1"}, {"python": 3}])
def test_types_of_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        sdyopt.parse(PROGRAM).validate(**options)


@needs_jax
def test_validate_compares_a_program_with_its_partitioned_form() -> None:
    module = sdyopt.parse(PROGRAM)
    validation = module.validate(module.partition(), seeds=2)
    assert validation.is_equal and validation.devices == 2 and len(validation.errors) == 2
    assert "2 results are equal on 2 devices for 2 random inputs" in str(validation)


@needs_jax
def test_validate_finds_a_difference() -> None:
    module = sdyopt.parse(PROGRAM)
    other = sdyopt.parse(PROGRAM.replace("stablehlo.add %a, %a", "stablehlo.multiply %a, %a"))
    validation = module.validate(other)
    assert validation.is_equal is False
    assert [each.id for each in validation.diagnostics] == ["validation-difference"] * 2


@needs_jax
@pytest.mark.parametrize("is_partitioned", [False, True])
def test_execute_takes_and_returns_whole_arrays(is_partitioned: bool) -> None:
    module = sdyopt.parse(PROGRAM)
    program = module.partition() if is_partitioned else module
    ones = np.ones((4, 2))
    doubled, total = program.execute(ones)
    assert (doubled == 2 * ones).all() and total == 16
    steps = program.execute(ones, steps=3, carry={0: 0})
    assert [step[1] for step in steps] == [16, 32, 64]
