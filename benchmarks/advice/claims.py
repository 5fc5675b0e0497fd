"""Compares conflict-free advice with what XLA sends: python -m benchmarks.advice.claims PROGRAM…

XLA compiles each program before and after each of the first changes that are conflict-free. Advice is right
if the bytes on the wire change in the same direction, and its bytes are near if they are within 10 % of
XLA's. The table says so for each change. --keep=FOLDER keeps XLA's results for the next run. Needs jax, as
--jax-python.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.advice.planted import adviser_on, table_row
from benchmarks.advice.table import write_table
from benchmarks.calibration.program import in_types_of
from sdyopt.analysis.advise.advice import AdvisedChange
from sdyopt.analysis.advise.verification import program_for_xla
from sdyopt.analysis.execution.process import NotValidated, Worker
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.hlo_comparison.collectives import of_report
from sdyopt.analysis.hlo_comparison.hlo_comparison import wire_bytes
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.driver.job import interpreter_settings

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
    claims: list[Claim] = []
    counts: Counter[str] = Counter()
    with interpreter_settings():
        for path in arguments.programs:
            for claim in _claims_on(path, arguments, counts):
                claims.append(claim)
                sys.stdout.write(_row(claim) + "\n")
                sys.stdout.flush()
    right, near = sum(each.is_right for each in claims), sum(each.is_near for each in claims)
    summary = (
        f"{len(claims)} conflict-free changes in {len({each.program for each in claims})} programs. XLA "
        f"agrees with the order of {right} ({_percent(right, claims)}); the bytes after {near} "
        f"({_percent(near, claims)}) are within 10% of XLA's."
    )
    sys.stdout.write(f"{summary}\n{dict(counts)}\n")
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
        lines = [f"| {' | '.join(header)} |", "|---|---|---:|---:|---:|---:|---|---|", *map(_row, claims)]
        write_table(arguments.output, "claims", "\n".join([summary, "", *lines]))
    return int(right * 20 < len(claims) * 19)


def _claims_on(path: Path, arguments: argparse.Namespace, counts: Counter[str]) -> Iterator[Claim]:
    adviser = adviser_on(path.read_text(encoding="utf-8"), arguments.jobs)
    advice = adviser.advice()
    counts["programs"] += 1
    if adviser.search is None or adviser.search.base is None:
        counts["programs that cannot be changed"] += 1
        return
    search, before = adviser.search, adviser.search.base[1].report
    changes: list[tuple[AdvisedChange, Op, Report]] = []
    for change in advice.changes:
        if not change.is_conflict_free:
            counts["changes that depend on the partitioner"] += 1
        elif len(changes) < arguments.changes and (base := search.after(change.move).base) is not None:
            changes.append((change, search.changed(change.move), base[1].report))
    if not changes:
        return
    texts = [
        program_for_xla(each, before.devices) for each in (search.changed(), *(op for _, op, _ in changes))
    ]
    compiled = _compiled(path, texts, before.devices, arguments)
    if compiled[0] is None:
        counts["programs that XLA rejects"] += 1
        return
    old = _pair(before, compiled[0])
    for (change, _, report), hlo in zip(changes, compiled[1:], strict=True):
        if hlo is None:
            counts["changes that XLA rejects"] += 1
            continue
        ours, theirs = _pair(report, hlo)
        yield Claim(path.stem, change.text, (old[0], ours), (old[1], theirs))


def _pair(report: Report, hlo: str) -> tuple[Fraction, Fraction]:
    """The bytes in the report and in XLA, 16-bit floats in 16 bits."""
    ours = list(of_report(report))
    theirs = in_types_of(ours, read_hlo("hlo", hlo, report.devices).operands)
    return wire_bytes(ours), wire_bytes(theirs)


def _compiled(
    path: Path, texts: Sequence[str], devices: int, arguments: argparse.Namespace
) -> list[str | None]:
    """The optimized HLO of programs; None for one that XLA rejects."""
    names = [f"{path.stem}-{sha256(text.encode()).hexdigest()[:16]}.hlo" for text in texts]
    keep: Path | None = arguments.keep
    found: dict[str, str | None] = {}
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        found = {name: (keep / name).read_text() for name in names if (keep / name).exists()}
    missing = {name: text for name, text in zip(names, texts, strict=True) if name not in found}
    worker = Worker(arguments.jax_python, 600)
    while missing:
        try:
            request = {"devices": devices, "texts": list(missing.values())}
            answers = worker.run("compile", request)
        except NotValidated as failure:
            answers = [{"cannot": str(failure)}]
        for name, answer in zip(list(missing), answers, strict=False):
            found[name] = answer.get("hlo")
            del missing[name]
            if keep is not None and found[name] is not None:
                (keep / name).write_text(found[name] or "")
    return [found[name] or None for name in names]


def _row(claim: Claim) -> str:
    cells = [
        claim.program,
        claim.text,
        *map(bytes_text, (*claim.ours, *claim.theirs)),
        "yes" if claim.is_right else "no",
        "yes" if claim.is_near else "no",
    ]
    return table_row(cells)


def _percent(part: int, whole: Sequence[object]) -> str:
    return f"{100 * part // max(len(whole), 1)}%"


if __name__ == "__main__":
    sys.exit(main())
