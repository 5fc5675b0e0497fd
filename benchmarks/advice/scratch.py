"""Compares annotations from scratch with given ones: python -m benchmarks.advice.scratch PROGRAM…

The annotations of a program are left out, and others are searched (`--advise-from-scratch`), at no more peak
memory. With --jax-python, which has jax, XLA compiles both programs.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path
from time import process_time

from benchmarks.advice.planted import adviser_on
from benchmarks.advice.table import Row, Rows, write_table
from sdyopt.analysis.figures.units import bytes_text, seconds_text
from sdyopt.tools.driver.job import interpreter_settings

# The time may be that of the given annotations times this.
_LIMIT = Fraction(105, 100)
_HEADER = (
    *("program", "time as given", "from scratch", "ratio", "peak as given", "from scratch"),
    *("sent as given", "from scratch", "XLA as given", "from scratch", "tried", "s"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice.scratch", description=__doc__)
    parser.add_argument("--jax-python", default="", metavar="PYTHON")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="write the table in this page")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep rows here, and go on from them")
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    rows = Rows(arguments.keep)
    with interpreter_settings():
        for path in arguments.programs:
            rows.add(path.stem, partial(_rows, path, arguments))
    good = sum(row.good[0] for row in rows.all)
    summary = f"{good} of {len(rows.all)} programs take at most 1.05 times the time, at no more peak memory."
    sys.stdout.write(f"{summary}\n")
    if arguments.output is not None:
        write_table(arguments.output, "scratch", summary, _HEADER, rows.all)
    return int(good * 10 < len(rows.all) * 8)


def _rows(path: Path, arguments: argparse.Namespace) -> list[Row]:
    start = process_time()
    python = arguments.jax_python
    options = {"advise_from_scratch": True, "advise_verify": bool(python), "jax": (python, 600, 8)}
    advice = adviser_on(path.read_text(encoding="utf-8"), arguments.jobs, **options).advice()
    seconds = process_time() - start
    given, final = advice.given, advice.final
    if given is None or final is None:
        return [Row([path.stem, advice.reason, *[""] * (len(_HEADER) - 2)], [False])]
    ratio = final.seconds / given.seconds
    compiled = ["", ""]
    if advice.compiled is not None:
        compiled = [bytes_text(each.wire_bytes) for each in advice.compiled]
    cells = [
        path.stem,
        seconds_text(given.seconds),
        seconds_text(final.seconds),
        f"{float(ratio):.2f}",
        bytes_text(Fraction(given.peak_bytes)),
        bytes_text(Fraction(final.peak_bytes)),
        bytes_text(given.wire_bytes),
        bytes_text(final.wire_bytes),
        *compiled,
        str(advice.tried),
        f"{seconds:.1f}",
    ]
    return [Row(cells, [ratio <= _LIMIT and final.peak_bytes <= given.peak_bytes])]


if __name__ == "__main__":
    sys.exit(main())
