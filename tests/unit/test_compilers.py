"""The table of what compilers make of a program, and the tests that show each row."""

from pathlib import Path

import pytest

from sdyopt.base.compilers import COMPILERS, CPU, GPU, TPU, CompilerBehavior

LIT = Path(__file__).parents[1] / "lit"


@pytest.mark.sources
@pytest.mark.parametrize("behavior", CompilerBehavior)
def test_a_lit_case_shows_the_behavior(behavior: CompilerBehavior) -> None:
    assert "--topology=" in (LIT / behavior.case).read_text(encoding="utf-8")


def test_compilers_are_known_and_not_all_do_the_same() -> None:
    for behavior in CompilerBehavior:
        assert set(behavior.compilers) < set(COMPILERS)


def test_without_a_compiler_only_what_tpu_and_gpu_do_holds() -> None:
    assert CompilerBehavior.SUMS_AFTER_LOOPS.holds("")
    assert not CompilerBehavior.SUMS_AFTER_LOOPS.holds(CPU)
    assert CompilerBehavior.PRODUCTS_OF_BF16.holds(TPU)
    assert not CompilerBehavior.PRODUCTS_OF_BF16.holds(GPU)
    assert not CompilerBehavior.PRODUCTS_OF_BF16.holds("")
