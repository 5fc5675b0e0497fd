"""The bytes of collectives in reports equal those that are read off the printed program."""

from pathlib import Path

import pytest

from sdyopt.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.diagnostics.diagnostic import handling
from sdyopt.ir.operation import Op
from sdyopt.pipeline.run import run_pipeline
from sdyopt.pipeline.text import parse_pipeline
from sdyopt.registry import lookup
from sdyopt.report.program_report import report_on
from tests.recomputation.communication import recompute
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
def test_communication(path: Path) -> None:
    root = partitioned(path.read_text(encoding="utf-8"))
    expected = [
        (each.kind, each.bytes_in, each.bytes_out, each.wire_bytes, each.value)
        for each in recompute(print_op(root, PrintOptions()))
    ]
    found = [
        (each.kind, each.bytes_in, each.bytes_out, each.wire_bytes, each.value)
        for each in report_on(root).collectives
    ]
    assert found == expected


def test_the_example_communicates() -> None:
    """Otherwise the test above compares nothing."""
    path = ROOT / "examples" / "transformer_train.mlir"
    assert len(report_on(partitioned(path.read_text(encoding="utf-8"))).collectives) > 20
