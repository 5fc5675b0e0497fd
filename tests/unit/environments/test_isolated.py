"""`python -I` ignores the environment, the user's packages and the current folder."""

from tests.harness.process import FIRST_EXAMPLE, first_example, sdy_opt


def test_the_first_example_runs_isolated() -> None:
    assert sdy_opt(*FIRST_EXAMPLE, python=["-I"]) == first_example()
