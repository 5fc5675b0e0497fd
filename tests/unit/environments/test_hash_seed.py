"""Propagation, explicit reshards and collectives of a training step do not depend on Python's hash seed."""

from tests.harness.process import ProcessResult, environment_with, sdy_opt

EXAMPLE = (
    "examples/transformer_train.mlir",
    "-sdy-propagation-pipeline=enable-insert-explicit-collectives=true",
)


def run(seed: str) -> ProcessResult:
    return sdy_opt(*EXAMPLE, environment=environment_with(PYTHONHASHSEED=seed))


def test_a_training_step_does_not_depend_on_the_hash_seed() -> None:
    expected = run("0")
    assert expected.status == 0
    assert run("1") == expected
    assert run("77") == expected
