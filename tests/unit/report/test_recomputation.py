"""The figures of reports equal those that are recomputed from the printed program."""

from pathlib import Path

import pytest

from sdyopt.analysis.figures.program_report import report_on
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import lookup
from tests.random_modules.modules import random_module
from tests.recomputation.agreement import disagreements
from tests.recomputation.programs import PROGRAMS as SMALL_PROGRAMS
from tests.unit.report.programs import ROOT, module

PIPELINE = "builtin.module(sdy-propagation-pipeline{enable-insert-explicit-collectives=true})"
PROGRAMS = sorted((ROOT / "examples").glob("*.mlir"))


def partitioned(text: str) -> Op:
    """A program with explicit collectives."""
    root = module(text)
    with handling(lambda _: None):
        assert run_pipeline(parse_pipeline(PIPELINE, lookup).merged(), root, None, [])
    return root


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_figures_of_examples_agree(path: Path) -> None:
    assert list(disagreements(partitioned(path.read_text(encoding="utf-8")))) == []


def test_the_example_communicates() -> None:
    """Otherwise the test above compares few figures."""
    path = ROOT / "examples" / "transformer_train.mlir"
    assert len(report_on(partitioned(path.read_text(encoding="utf-8"))).collectives) > 20


@pytest.mark.parametrize("text", SMALL_PROGRAMS.values(), ids=SMALL_PROGRAMS)
def test_figures_of_small_programs_agree(text: str) -> None:
    assert list(disagreements(module(text))) == []


@pytest.mark.parametrize("seed", range(40))
def test_figures_of_random_programs_agree(seed: int) -> None:
    """Nested loops, branches, named and manual computations."""
    assert list(disagreements(module(random_module(seed)))) == []


@pytest.mark.parametrize(
    ("before", "after", "figure"),
    [
        ("tensor<64x32xf32>", "tensor<64x32xf64>", "collective"),
        ("dense<7>", "dense<9>", "executions"),
    ],
)
def test_a_wrong_figure_is_found(before: str, after: str, figure: str) -> None:
    """The report on a program is compared with the text of another one."""
    text = SMALL_PROGRAMS["counts_up"]
    assert before in text
    printed = print_op(module(text.replace(before, after)), PrintOptions())
    found = list(disagreements(module(text), printed))
    assert any(sentence.startswith(figure) for sentence in found)
