"""Compares conflict-free advice with what XLA sends: python -m benchmarks.advice.claims PROGRAM…

XLA compiles each program before and after each of the first changes that are conflict-free. Advice is right
if the bytes on the wire change in the same direction, and its bytes are near if they are within 10 % of
XLA's. The table says so for each change. --keep=FOLDER keeps XLA's results for the next run. Needs jax, as
--jax-python.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.advice.planted import adviser_on
from benchmarks.advice.table import Row, Rows, write_table
from benchmarks.calibration.common_passes import compile_by_common_passes
from benchmarks.processes import BenchmarkFailed
from sdyopt.analysis.advise.verification import program_for_xla
from sdyopt.analysis.changes.trials import Trial
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.hlo_comparison.accelerators import on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import of_report
from sdyopt.analysis.hlo_comparison.comparison import wire_bytes
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.driver.job import interpreter_settings

SCRIPT = Path(__file__).parents[1] / "calibration" / "compile_with_xla.py"
# Bytes that change by less are the same, and bytes that differ by less from XLA's are near.
_SAME, _NEAR = Fraction(2, 100), Fraction(10, 100)


class Claim(NamedTuple):
    """A change with the bytes on the wire before and after it, ours and XLA's."""

    program: str
    text: str
    ours: tuple[Fraction, Fraction]
    theirs: tuple[Fraction, Fraction]

    @property
    def is_right(self) -> bool:
        return _direction(*self.ours) == _direction(*self.theirs)

    @property
    def is_near(self) -> bool:
        return abs(self.ours[1] - self.theirs[1]) <= _NEAR * max(self.theirs[1], self.ours[1])


def _direction(before: Fraction, after: Fraction) -> int:
    if abs(after - before) <= _SAME * max(before, after):
        return 0
    return 1 if after > before else -1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice.claims", description=__doc__)
    parser.add_argument("--jax-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="write the table in this page")
    parser.add_argument("--changes", type=int, default=6, help="changes of each program, at most")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    keep: Path | None = arguments.keep
    rows = Rows(None if keep is None else keep / "rows.jsonl")
    with interpreter_settings():
        for path in arguments.programs:
            rows.add(path.stem, partial(_rows, path, arguments))
    found = rows.all
    right, near = (sum(row.good[number] for row in found) for number in range(2))
    summary = (
        f"{len(found)} conflict-free changes of {len({row.cells[0] for row in found})} programs. XLA agrees "
        f"with the order of {right} ({_percent(right, found)}), and the bytes after {near} "
        f"({_percent(near, found)}) are within 10% of XLA's."
    )
    sys.stdout.write(f"{summary}\n")
    if arguments.output is not None:
        header = (
            "program",
            "change",
            "before",
            "after",
            "before in XLA",
            "after in XLA",
            "order",
            "within 10%",
        )
        write_table(arguments.output, "claims", summary, header, found)
    return int(right * 20 < len(found) * 19)


def _rows(path: Path, arguments: argparse.Namespace) -> list[Row]:
    return [_row(claim) for claim in _claims_on(path, arguments)]


def _claims_on(path: Path, arguments: argparse.Namespace) -> Iterator[Claim]:
    adviser = adviser_on(path.read_text(encoding="utf-8"), arguments.jobs)
    advice = adviser.advice()
    trials = adviser.search.trials
    if trials.outcome is None:
        return
    before = trials.outcome.report
    changes: list[tuple[Trial, Op, Report]] = []
    for change in advice.changes:
        if change.is_conflict_free and len(changes) < arguments.changes:
            after = trials.after(change.change).outcome
            if after is not None:
                changes.append((change, trials.changed(change.change), after.report))
    if not changes:
        return
    texts = [
        program_for_xla(each, before.devices) for each in (trials.changed(), *(op for _, op, _ in changes))
    ]
    compiled = _compiled(path, texts, before.devices, arguments)
    if compiled[0] is None:
        return
    old = _pair(before, compiled[0])
    for (change, _, report), hlo in zip(changes, compiled[1:], strict=True):
        if hlo is None:
            continue
        ours, theirs = _pair(report, hlo)
        yield Claim(path.stem, change.text, (old[0], ours), (old[1], theirs))


def _pair(report: Report, hlo: str) -> tuple[Fraction, Fraction]:
    """The bytes in the report, and in XLA as it is on TPU and GPU."""
    ours = list(of_report(report))
    theirs = on_accelerators(read_hlo("hlo", hlo, report.devices)).operands
    return wire_bytes(ours), wire_bytes(theirs)


def _compiled(
    path: Path, texts: Sequence[str], devices: int, arguments: argparse.Namespace
) -> list[str | None]:
    """The HLO of programs after the passes that all devices have in common; None for one that XLA rejects."""
    python, keep = arguments.jax_python, arguments.keep
    return [compiled_by_xla(path.stem, text, devices, python, keep) for text in texts]


def compiled_by_xla(name: str, text: str, devices: int, python: str, keep: Path | None) -> str | None:
    """The HLO of a program after the passes that all devices have in common; None if XLA rejects it."""
    kept = None if keep is None else keep / f"{name}-{sha256(text.encode()).hexdigest()[:16]}.json"
    if kept is None or not kept.exists():
        with TemporaryDirectory() as folder:
            program = Path(folder) / f"{name}.mlir"
            program.write_text(text, encoding="utf-8")
            try:
                found = compile_by_common_passes(SCRIPT, program, devices, python)
            except BenchmarkFailed:
                return None
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(found, encoding="utf-8")
    else:
        found = kept.read_text(encoding="utf-8")
    hlo: str = json.loads(found)["hlo"]
    return hlo


def _row(claim: Claim) -> Row:
    cells = [
        claim.program,
        claim.text,
        *map(bytes_text, (*claim.ours, *claim.theirs)),
        "yes" if claim.is_right else "no",
        "yes" if claim.is_near else "no",
    ]
    return Row(cells, [claim.is_right, claim.is_near])


def _percent(part: int, whole: Sequence[object]) -> str:
    return f"{100 * part // max(len(whole), 1)}%"


if __name__ == "__main__":
    sys.exit(main())
