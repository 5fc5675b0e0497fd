"""Compares the report on one program with what XLA compiles."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.calibration.common_passes import compile_by_common_passes
from benchmarks.processes import BenchmarkFailed, run
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import Topology
from sdyopt.analysis.hlo_comparison.accelerators import on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, of_report
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import all_dialects, find_dialect, lookup
from sdyopt.tools.driver.job import Job, interpreter_settings
from sdyopt.tools.driver.run import run_job

# What a report for the CPU assumes where no pass is given.
PIPELINE = "builtin.module(sdy-jax-pipeline{compiler=cpu})"
# The mode of `compile_with_xla` that runs the passes that all devices have in common.
COMMON = "common"
_SCRIPT = Path(__file__).with_name("compile_with_xla.py")


class NotComparedError(Exception):
    """A program cannot be compared; the message is the reason."""


@dataclass(frozen=True)
class Comparison:
    """Collectives and bytes of a program in the report and in XLA's result.

    XLA's operands are those of the passes that all devices have in common, as TPU and GPU go on with them;
    `changes` counts what that changes. Those of the CPU are as XLA compiles for it. `equal` are the
    collectives of the report with one of XLA of the same kind, groups and bytes.
    """

    name: str
    devices: int
    report_operands: list[CollectiveOperand]
    xla_operands: list[CollectiveOperand]
    cpu_operands: list[CollectiveOperand]
    changes: Counter[str]
    reasons: Counter[str]
    equal: int
    arguments: int
    xla_arguments: int
    peak: int
    xla_peak: int
    cpu_peak: int


def compare_program(path: Path, python: str, keep: Path | None) -> Comparison:
    """Compares a program. Raises NotComparedError if the pipeline or XLA rejects it."""
    report = report_on_program(path)
    on_cpu = compile_with_xla(path, report.devices, python, keep)
    common = compile_with_xla(path, report.devices, python, keep, COMMON)
    program = read_hlo(path.stem, common["hlo"], report.devices)
    found = on_accelerators(program)
    compiled = found.operands
    operands = list(of_report(report))
    matches = match_collectives(operands, compiled, program)
    return Comparison(
        path.stem,
        report.devices,
        operands,
        compiled,
        read_hlo(path.stem, on_cpu["hlo"], report.devices).operands,
        Counter(each.kind for each in found.changes),
        Counter(match.reason for match in matches),
        sum(any(_are_equal(ours, xla) for ours in match.ours for xla in match.theirs) for match in matches),
        report.memory.arguments,
        common["arguments"],
        report.memory.peak,
        common["peak"],
        on_cpu["arguments"] + on_cpu["results"] + on_cpu["temporaries"] - on_cpu["aliases"],
    )


def _are_equal(ours: CollectiveOperand, xla: CollectiveOperand) -> bool:
    return (ours.kind, ours.groups, ours.bytes) == (xla.kind, xla.groups, xla.bytes)


def wire_bytes(operands: list[CollectiveOperand]) -> Fraction:
    """The bytes on the wire per device, a loop body counted once."""
    return sum((each.wire_bytes for each in operands), Fraction(0))


def report_on_program(path: Path, topology: Topology | None = None) -> Report:
    """The report on a program after the assumed pipeline. Raises NotComparedError if that rejects it."""
    outcome = run_job(Job(path.name, path.read_bytes, parse_pipeline(PIPELINE, lookup)))
    if not outcome.succeeded:
        raise NotComparedError("the pipeline rejects it")
    with interpreter_settings():
        module, _ = parse_module(Source(path.name, outcome.output), DialectTable(find_dialect, all_dialects))
        return report_on(module, topology)


def compile_with_xla(path: Path, devices: int, python: str, keep: Path | None, *mode: str) -> dict[str, Any]:
    """The output of `compile_with_xla.py`; read from the folder `keep` if a previous run wrote it there."""
    suffix = ".common.json" if COMMON in mode else ".json"
    kept = None if keep is None else keep / f"{path.stem}{suffix}"
    if kept is not None and kept.exists():
        text = kept.read_text(encoding="utf-8")
    else:
        try:
            if COMMON in mode:
                text = compile_by_common_passes(_SCRIPT, path, devices, python)
            else:
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
