"""`python -O` skips assertions; `python -OO` also strips docstrings, which the manuals of passes are."""

import subprocess
import sys

import pytest

from tests.harness.process import FIRST_EXAMPLE, ROOT, first_example, sdy_opt

ALL_MANUALS = "from sdyopt.mlir.registry import all_passes; print([entry.manual for entry in all_passes()])"


def output_of(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("flag", ["-O", "-OO"])
def test_the_first_example_runs_optimized(flag: str) -> None:
    assert sdy_opt(*FIRST_EXAMPLE, python=[flag]) == first_example()


def test_manuals_do_not_need_docstrings() -> None:
    manuals = output_of("-c", ALL_MANUALS)
    assert "sdy-close-shardings: " in manuals
    assert output_of("-OO", "-c", ALL_MANUALS) == manuals
