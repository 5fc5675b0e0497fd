"""Measures how time and memory grow with the size of a program, along many dimensions.

    python -m benchmarks.growth [--output benchmarks/growth.md] [DIMENSION …]

Each dimension is measured at two sizes, one twice the other. The exponent is that of the power law between
them, without the time and memory of a program of size 1: 1 is linear, 2 is quadratic. Times are processor
times, so that other load on the machine has little effect.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.growth_programs import DIMENSIONS, Dimension

STEPS = (2, 4)
# Exponents above this one are marked.
LIMIT = 1.2
# Differences that are smaller have no meaningful exponent.
_LEAST_SECONDS, _LEAST_MEBIBYTES = 0.1, 4.0


@dataclass(frozen=True)
class Usage:
    """Processor seconds and peak memory of a process."""

    seconds: float
    mebibytes: float


@dataclass(frozen=True)
class Growth:
    """The usage at each size, without that of start-up."""

    size: int
    usages: tuple[Usage, ...]

    @property
    def time_exponent(self) -> float | None:
        return exponent([usage.seconds for usage in self.usages], _LEAST_SECONDS)

    @property
    def memory_exponent(self) -> float | None:
        return exponent([usage.mebibytes for usage in self.usages], _LEAST_MEBIBYTES)


def exponent(values: list[float], least: float) -> float | None:
    """The exponent of growth between the last two values; None if one is too small to tell."""
    before, after = values[-2:]
    return math.log2(after / before) if min(before, after) >= least else None


def measure(dimension: Dimension) -> Growth:
    """The growth along a dimension."""
    start = _run(dimension.write(1), dimension.flags)
    sizes = [dimension.size * step for step in STEPS]
    usages = [_run(dimension.write(size), dimension.flags) for size in sizes]
    net = tuple(Usage(each.seconds - start.seconds, each.mebibytes - start.mebibytes) for each in usages)
    return Growth(sizes[-1], net)


def _run(text: str, flags: tuple[str, ...]) -> Usage:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "program.mlir")
        source.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "sdyopt", str(source), "-o", str(Path(folder, "out.mlir")), *flags]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Usage(usage.ru_utime + usage.ru_stime, kilobytes / 1024)


def row(name: str, growth: Growth) -> str:
    """A row of the table."""
    last = growth.usages[-1]
    times, memory = _cell(growth.time_exponent), _cell(growth.memory_exponent)
    return (
        f"| {name} | {growth.size:,} | {last.seconds:.2f} s | {times} | {last.mebibytes:.0f} MiB | {memory} |"
    )


def _cell(exponent: float | None) -> str:
    if exponent is None:
        return "–"
    return f"**{exponent:.2f}**" if exponent > LIMIT else f"{exponent:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dimensions", nargs="*", metavar="DIMENSION", help="words of the names of dimensions")
    parser.add_argument("--output", type=Path, help="the Markdown file to write the table to")
    options = parser.parse_args()
    names = [name for name in DIMENSIONS if all(word in name for word in options.dimensions)]
    lines = [
        "| dimension | largest size | time | exponent | memory | exponent |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    print(*lines, sep="\n", flush=True)
    for name in names:
        lines.append(row(name, measure(DIMENSIONS[name])))
        print(lines[-1], flush=True)
    if options.output is not None:
        options.output.write_text("\n".join([_HEAD, *lines, ""]), encoding="utf-8")


_HEAD = """\
# Growth

`make growth` writes this page. It shows how processor time and peak memory of `sdy-opt` grow, both without
start-up, when a program doubles along one dimension. An exponent of 1 is linear; those above 1.2 are bold. A
dash is a difference that is too small to measure.
"""


if __name__ == "__main__":
    main()
