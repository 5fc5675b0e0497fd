"""Compares reports with what the compilers for TPU and GPU make of programs, as `--compiled` does.

Models are not tuned on half of the programs, chosen by a hash of their names; both halves are counted.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.processes import BenchmarkFailed, run
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.base.compilers import COMPILERS, CompilerBehavior

# The machines that programs are compiled for; a TPU has the shape that the mesh needs.
TARGETS = {"tpu": ("tpu-v5e", "tpu-v5p"), "gpu": ("h100",)}
_MEBIBYTE = 1 << 20
_LEAST_WIRE = 1_000_000


@dataclass(frozen=True)
class Figures:
    """The figures of one side."""

    wire: int
    peak: int
    flops: int
    fits: bool | None


@dataclass(frozen=True)
class Compared:
    """One program: its figures in the report and those of the compiler."""

    name: str
    devices: int
    target: str
    compiler: str
    report: Figures
    compiled: Figures

    @property
    def is_tuned(self) -> bool:
        """Whether models may be tuned on the program."""
        return is_tuned(self.name)


def is_tuned(name: str) -> bool:
    """Whether models may be tuned on the program of this name."""
    return int(hashlib.sha256(name.encode()).hexdigest()[0], 16) < 8


def compare(path: Path, target: str, python: str) -> Compared:
    """Compares a program. Raises BenchmarkFailed with the reason if it is not compiled."""
    failure = BenchmarkFailed("no machine")
    for machine in TARGETS[target]:
        with TemporaryDirectory() as folder:
            output = Path(folder, "report.json")
            command = [sys.executable, "-m", "sdyopt", str(path), f"--report={output}", "-o", "/dev/null"]
            command += [f"--topology={machine}", "--compiled", f"--jax-python={python}"]
            try:
                run(command)
            except BenchmarkFailed as error:
                failure = error
                continue
            return _compared(path.stem, json.loads(output.read_text(encoding="utf-8")))
    raise failure


def _compared(name: str, data: dict[str, Any]) -> Compared:
    totals, compiled = data["totals"], data["compiled"]
    return Compared(
        name,
        data["devices"],
        compiled["target"],
        compiled["compiler"],
        Figures(totals["wire_bytes"]["high"], data["memory"]["peak"], totals["flops"]["high"], data["fits"]),
        Figures(
            compiled["wire_bytes"]["high"],
            compiled["memory"]["peak"],
            compiled["flops"] or 0,
            compiled["fits"],
        ),
    )


def section(target: str, found: Sequence[Compared], rejected: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The lines of a target's section."""
    name, compilers = COMPILERS[target], sorted({each.compiler for each in found})
    machines = ", ".join(sorted({each.target.partition(":")[0] for each in found}))
    yield f"## {name}\n"
    yield (
        f"{len(found)} programs, compiled by {', '.join(compilers)} for {machines}. Halves: programs on "
        "which the model was tuned, and others, on which it was not tuned.\n"
    )
    yield "| figure | programs | tuned | others |"
    yield "|---|---:|---:|---:|"
    for title, chosen, is_near in _FIGURES:
        rows = [each for each in found if chosen(each)]
        halves = [[each for each in rows if each.is_tuned is half] for half in (True, False)]
        cells = [f"{sum(map(is_near, half))} of {len(half)}" for half in halves]
        yield f"| {title} | {sum(map(is_near, rows))} of {len(rows)} | {' | '.join(cells)} |"
    yield ""
    yield f"What only some compilers do, and reports for {name} follow:\n"
    for behavior in CompilerBehavior:
        if behavior.holds(target):
            yield f"- {behavior.summary}"
    yield ""
    yield "| program | devices | tuned | wire in report | compiled | peak in report | compiled | FLOPs |"
    yield "|---|---:|---|---:|---:|---:|---:|---:|"
    for each in found:
        wire, peak = (
            [bytes_text(getattr(side, name)) for side in (each.report, each.compiled)]
            for name in ("wire", "peak")
        )
        flops = f"{each.report.flops / each.compiled.flops:.2f}" if each.compiled.flops else ""
        yield (
            f"| {each.name} | {each.devices} | {'yes' if each.is_tuned else 'no'} | {' | '.join(wire)} | "
            f"{' | '.join(peak)} | {flops} |"
        )
    yield ""
    if rejected:
        yield "Not compared:\n"
        yield from (f"- `{name}`: {reason}" for name, reason in rejected)
        yield ""


def with_section(page: str, target: str, lines: Sequence[str]) -> str:
    """A page with the section of a target in place of the one that it has, or at the end."""
    start, end = f"<!-- {target} -->\n", f"<!-- end of {target} -->\n"
    before, found, rest = page.partition(start)
    after = rest.partition(end)[2] if found else ""
    return before.rstrip("\n") + "\n\n" + start + "\n".join(lines) + "\n" + end + after


def _is_wire_near(each: Compared) -> bool:
    return abs(each.report.wire - each.compiled.wire) * 10 <= each.compiled.wire


def _is_peak_near(each: Compared) -> bool:
    return 0.8 * each.compiled.peak <= each.report.peak <= 1.25 * each.compiled.peak


_FIGURES: Sequence[tuple[str, Callable[[Compared], bool], Callable[[Compared], bool]]] = (
    (
        "wire bytes within 10%, above 1 MB",
        lambda each: each.compiled.wire > _LEAST_WIRE,
        _is_wire_near,
    ),
    (
        "HBM peak 0.8 to 1.25 times, above 256 MiB",
        lambda each: each.compiled.peak > 256 * _MEBIBYTE,
        _is_peak_near,
    ),
    (
        "HBM peak 0.8 to 1.25 times, above 16 MiB",
        lambda each: each.compiled.peak > 16 * _MEBIBYTE,
        _is_peak_near,
    ),
    (
        "FLOPs within 5%",
        lambda each: each.compiled.flops > 0,
        lambda each: abs(each.report.flops - each.compiled.flops) * 20 <= each.compiled.flops,
    ),
    (
        "fit",
        lambda each: each.compiled.fits is not None,
        lambda each: each.report.fits == each.compiled.fits,
    ),
)
