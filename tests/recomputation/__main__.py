"""Recomputes the figures of reports: python -m tests.recomputation [--pass-pipeline=PIPELINE] FILE…

The pipeline, by default propagation with explicit collectives, runs on each program. A line for each tells
whether all figures agree; the exit status is 1 if some do not. Programs that the pipeline rejects are
skipped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sdyopt.analysis.figures.program_report import report_on
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import all_dialects, find_dialect, lookup
from sdyopt.tools.driver.job import Job, interpreter_settings
from sdyopt.tools.driver.run import run_job
from tests.recomputation.agreement import disagreements

PIPELINE = "builtin.module(sdy-propagation-pipeline{enable-insert-explicit-collectives=true})"
SHOWN = 5


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.recomputation", description=__doc__)
    parser.add_argument("--pass-pipeline", default=PIPELINE)
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    with interpreter_settings():
        return max([_check(path, arguments.pass_pipeline) for path in arguments.files])


def _check(path: Path, pipeline: str) -> int:
    root = _module_after(path, pipeline)
    if root is None:
        print(f"{path.name}: the pipeline fails")
        return 0
    report, found = report_on(root), list(disagreements(root))
    counts = f"{len(report.collectives)} collectives, {len(report.products)} products"
    print(
        f"{path.name}: {counts}: {'all figures agree' if not found else f'{len(found)} differ'}", flush=True
    )
    for sentence in found[:SHOWN]:
        print(f"    {sentence}")
    return bool(found)


def _module_after(path: Path, pipeline: str) -> Op | None:
    """The module after the pipeline; None if the pipeline fails."""
    job = Job(path.name, path.read_bytes, parse_pipeline(pipeline, lookup))
    outcome = run_job(job)
    if not outcome.succeeded:
        return None
    root, _ = parse_module(Source(path.name, outcome.output), DialectTable(find_dialect, all_dialects))
    return root


if __name__ == "__main__":
    sys.exit(main())
