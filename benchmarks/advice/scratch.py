"""Compares annotations from scratch with given ones: python -m benchmarks.advice.scratch PROGRAM…

The annotations of a program are left out, and others are searched (`--advise-from-scratch`), at no more peak
memory. With --jax-python, which has jax, XLA compiles both programs.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path
from time import process_time

from benchmarks.advice.planted import adviser_on, table_row
from benchmarks.advice.table import write_table
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
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    rows, good = [], 0
    with interpreter_settings():
        for path in arguments.programs:
            cells, is_good = _row(path, arguments)
            good += is_good
            rows.append(table_row(cells))
            sys.stdout.write(rows[-1] + "\n")
            sys.stdout.flush()
    summary = f"{good} of {len(rows)} programs take at most 1.05 times the time, at no more peak memory."
    sys.stdout.write(f"{summary}\n")
    if arguments.output is not None:
        lines = [table_row(_HEADER), "|---" + "|---:" * (len(_HEADER) - 1) + "|", *rows]
        write_table(arguments.output, "scratch", "\n".join([summary, "", *lines]))
    return int(good * 10 < len(rows) * 8)


def _row(path: Path, arguments: argparse.Namespace) -> tuple[list[str], bool]:
    start = process_time()
    python = arguments.jax_python
    options = {"advise_from_scratch": True, "advise_verify": bool(python), "jax": (python, 600, 8)}
    advice = adviser_on(path.read_text(encoding="utf-8"), arguments.jobs, **options).advice()
    seconds = process_time() - start
    given, final = advice.given, advice.final
    if given is None or final is None:
        return [path.stem, advice.reason, *[""] * (len(_HEADER) - 2)], False
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
    return cells, ratio <= _LIMIT and final.peak_bytes <= given.peak_bytes


if __name__ == "__main__":
    sys.exit(main())
