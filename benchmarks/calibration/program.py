"""Compares the report on one program with what XLA compiles."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.processes import BenchmarkFailed, run
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, of_report
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import all_dialects, find_dialect, lookup
from sdyopt.tools.driver.job import Job, interpreter_settings
from sdyopt.tools.driver.run import run_job

# What a report assumes where no pass is given.
PIPELINE = "builtin.module(sdy-jax-pipeline)"
_SCRIPT = Path(__file__).with_name("compile_with_xla.py")


class NotComparedError(Exception):
    """A program cannot be compared; the message is the reason."""


@dataclass(frozen=True)
class Comparison:
    """Collectives and bytes of a program in the report and in XLA's result."""

    name: str
    devices: int
    report_operands: list[CollectiveOperand]
    xla_operands: list[CollectiveOperand]
    # The number of operands in XLA's combined collectives.
    combined: int
    reasons: Counter[str]
    arguments: int
    xla_arguments: int
    peak: int
    xla_peak: int


def compare_program(path: Path, python: str, keep: Path | None) -> Comparison:
    """Compares a program. Raises NotComparedError if the pipeline or XLA rejects it."""
    report = _report(path)
    xla = compile_with_xla(path, report.devices, python, keep)
    compiled = read_hlo(path.stem, xla["hlo"], report.devices)
    operands = list(of_report(report))
    matches = match_collectives(operands, compiled.operands)
    return Comparison(
        path.stem,
        report.devices,
        operands,
        compiled.operands,
        compiled.combined,
        Counter(match.reason for match in matches),
        report.memory.arguments,
        xla["arguments"],
        report.memory.peak,
        xla["arguments"] + xla["results"] + xla["temporaries"] - xla["aliases"],
    )


def in_types_of(report: list[CollectiveOperand], xla: list[CollectiveOperand]) -> list[CollectiveOperand]:
    """The operands in XLA, with 16-bit floats in 16 bits, where XLA for CPU communicates them in 32."""
    narrow = Counter((each.kind, each.groups, each.elements) for each in report if each.bits == 16)
    found = []
    for each in xla:
        key = each.kind, each.groups, each.elements
        if each.bits == 32 and narrow[key]:
            narrow[key] -= 1
            each = replace(each, bits=16)
        found.append(each)
    return found


def wire_bytes(operands: list[CollectiveOperand]) -> Fraction:
    """The bytes on the wire per device, a loop body counted once."""
    return sum((each.wire_bytes for each in operands), Fraction(0))


def _report(path: Path) -> Report:
    outcome = run_job(Job(path.name, path.read_bytes, parse_pipeline(PIPELINE, lookup)))
    if not outcome.succeeded:
        raise NotComparedError("the pipeline rejects it")
    with interpreter_settings():
        module, _ = parse_module(Source(path.name, outcome.output), DialectTable(find_dialect, all_dialects))
        return report_on(module)


def compile_with_xla(path: Path, devices: int, python: str, keep: Path | None, *mode: str) -> dict[str, Any]:
    """The output of `compile_with_xla.py`; read from the folder `keep` if a previous run wrote it there."""
    kept = None if keep is None else keep / f"{path.stem}.json"
    if kept is not None and kept.exists():
        text = kept.read_text(encoding="utf-8")
    else:
        try:
            command = [python, str(_SCRIPT), str(path), str(devices), *mode]
            text = run(command, keeps_output=True).output
        except BenchmarkFailed as failure:
            lines = [line for line in str(failure).splitlines() if "rror" in line]
            raise NotComparedError(_reason(lines[-1] if lines else "XLA fails")) from None
        if kept is not None:
            kept.write_text(text, encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _reason(message: str) -> str:
    """At most 100 characters of the message, without the name of the exception."""
    return message.partition("Error: ")[2][:100] or message[:100]
