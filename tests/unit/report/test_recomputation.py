"""The figures of reports equal those that are read off the printed program."""

from pathlib import Path

import pytest

from sdyopt.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.diagnostics.diagnostic import handling
from sdyopt.ir.operation import Op
from sdyopt.pipeline.run import run_pipeline
from sdyopt.pipeline.text import parse_pipeline
from sdyopt.registry import lookup
from sdyopt.report.figures import Times
from sdyopt.report.program_report import report_on
from tests.random_modules.modules import random_module
from tests.recomputation import compute, memory
from tests.recomputation.communication import recompute
from tests.recomputation.executions import Executions, collectives
from tests.recomputation.programs import PROGRAMS as SMALL_PROGRAMS
from tests.recomputation.text_program import Program
from tests.unit.report.programs import ROOT, module

PIPELINE = "builtin.module(sdy-propagation-pipeline{enable-insert-explicit-collectives=true})"
PROGRAMS = sorted((ROOT / "examples").glob("*.mlir"))


INLINED = PIPELINE[:-1] + ",inline)"


def partitioned(text: str, pipeline: str = PIPELINE) -> Op:
    """A program with explicit collectives."""
    root = module(text)
    with handling(lambda _: None):
        assert run_pipeline(parse_pipeline(pipeline, lookup).merged(), root, None, [])
    return root


def printed(root: Op) -> Program:
    return Program(print_op(root, PrintOptions()))


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


def check_memory(root: Op) -> None:
    found = report_on(root).memory
    assert memory.recompute(printed(root)) == memory.Recomputed(
        found.arguments, found.results, found.constants, found.peak, found.peak_with_arguments
    )


def check_compute(root: Op) -> None:
    found = [
        compute.Recomputed(each.kind, each.flops, each.global_flops, each.value)
        for each in report_on(root).products
    ]
    assert found == list(compute.recompute(printed(root)))


def check_executions(root: Op) -> None:
    report, program = report_on(root), printed(root)
    runs = Executions(program)
    expected = [(op.results[0].name, runs.of(op)) for op in collectives(program)]
    assert [(each.value, low_and_high(each.times)) for each in report.collectives] == expected
    expected = [(op.results[0].name, runs.of(op)) for op in compute.products(program)]
    assert [(each.value, low_and_high(each.times)) for each in report.products] == expected


def low_and_high(times: Times | None) -> tuple[int, int] | None:
    return (times.low, times.high) if times is not None else None


# Without calls: the figures for what a call adds are compared on small programs below.
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_memory(path: Path) -> None:
    check_memory(partitioned(path.read_text(encoding="utf-8"), INLINED))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_compute(path: Path) -> None:
    check_compute(partitioned(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_executions(path: Path) -> None:
    check_executions(partitioned(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("text", SMALL_PROGRAMS.values(), ids=SMALL_PROGRAMS)
def test_small_program(text: str) -> None:
    root = module(text)
    check_memory(root)
    check_compute(root)
    check_executions(root)


@pytest.mark.parametrize("seed", range(40))
def test_random_program(seed: int) -> None:
    """Loops, branches and computations inside each other, as no one would write them."""
    root = module(random_module(seed))
    check_compute(root)
    check_executions(root)
    if "call @" not in print_op(root, PrintOptions()):
        check_memory(root)
