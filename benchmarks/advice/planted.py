"""Plants mistakes in correct programs, and looks for them in advice: python -m benchmarks.advice.planted

A mistake is found if, of the first three changes, one makes the program as cheap as the correct one, or
cheaper. Programs are written by JAX (`models.py`, with --jax-python), and those of
`tests/lit/report/worsened` are added.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

from benchmarks.advice.table import Row, Rows, write_table
from sdyopt.analysis.advise import Options
from sdyopt.analysis.advise.adviser import Adviser
from sdyopt.analysis.changes.effect import Figures
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.analysis.figures.units import seconds_text
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.registry import all_dialects, find_dialect
from sdyopt.tools.driver.job import interpreter_settings

ROOT = Path(__file__).parents[2]
WORSENED = ROOT / "tests" / "lit" / "report" / "worsened"
# A change is as good as the correction if the program takes at most so much more time.
_TOLERANCE = Fraction(1, 100)
_FIRST = 3


class Case(NamedTuple):
    """A mistake in a program, and the texts of both programs."""

    program: str
    mistake: str
    good: str
    worse: str


class Found(NamedTuple):
    """The figures of both programs, and the best of the first changes, with its number."""

    good: Figures
    worse: Figures
    change: Trial | None
    number: int
    tried: int
    seconds: float

    @property
    def is_found(self) -> bool:
        if self.change is None:
            return False
        return _cost(self.change.after) <= _cost(self.good) * (1 + _TOLERANCE)


def _cost(figures: Figures) -> Fraction:
    return figures.seconds + figures.penalty


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice.planted", description=__doc__)
    parser.add_argument("--jax-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--folder", type=Path, help="keep the programs here, and use those that are here")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="write the table in this page")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep rows here, and go on from them")
    parser.add_argument("numbers", nargs="*", type=int, help="only these mistakes")
    arguments = parser.parse_args()
    rows = Rows(arguments.keep)
    with TemporaryDirectory() as temporary, interpreter_settings():
        for number, case in enumerate(_cases(arguments.folder or Path(temporary), arguments.jax_python), 1):
            if not arguments.numbers or number in arguments.numbers:
                rows.add(f"{number}", partial(_rows, case, arguments.jobs))
    count = sum(row.good[0] for row in rows.all)
    summary = f"{count} of {len(rows.all)} planted mistakes are found."
    sys.stdout.write(f"{summary}\n")
    if arguments.output is not None:
        header = "program", "mistake", "correct", "planted", "advised", "advice", "found", "tried", "s"
        write_table(arguments.output, "planted", summary, header, rows.all)
    return int(count * 10 < len(rows.all) * 9)


def _cases(folder: Path, python: str) -> Iterator[Case]:
    listed = folder / "mistakes.json"
    if not listed.exists():
        script = Path(__file__).with_name("models.py")
        subprocess.run([python, str(script), str(folder)], check=True)
    for number, (program, mistake) in enumerate(json.loads(listed.read_text(encoding="utf-8"))):
        texts = ((folder / f"{name}.mlir").read_text(encoding="utf-8") for name in (program, number))
        yield Case(program, mistake, *texts)
    for path in sorted(WORSENED.glob("*.mlir")):
        _, *parts = path.read_text(encoding="utf-8").split("//--- ")
        files = dict(part.split("\n", 1) for part in parts)
        yield Case(f"worsened/{path.stem}", "", files["good.mlir"], files["worse.mlir"])


def adviser_on(text: str, jobs: int, **options: Any) -> Adviser:
    """Advises on the text of a program."""
    module, _ = parse_module(Source("program", text), DialectTable(find_dialect, all_dialects))
    return Adviser(
        module, assumed_pipeline(module)[1], None, Options(advise="-", advise_jobs=jobs, **options)
    )


def _look(case: Case, jobs: int) -> Found:
    good = adviser_on(case.good, 1).figures()
    start = process_time()
    adviser = adviser_on(case.worse, jobs)
    advice = adviser.advice()
    seconds = process_time() - start
    first = list(enumerate(advice.changes[:_FIRST], 1))
    number, change = min(first, key=lambda each: _cost(each[1].after), default=(0, None))
    worse = adviser.figures()
    assert good is not None and worse is not None
    return Found(good, worse, change, number, advice.tried, seconds)


def _rows(case: Case, jobs: int) -> list[Row]:
    found = _look(case, jobs)
    change = found.change
    cells = [
        case.program,
        case.mistake,
        seconds_text(_cost(found.good)),
        seconds_text(_cost(found.worse)),
        "" if change is None else seconds_text(_cost(change.after)),
        "" if change is None else f"{found.number}: {change.text}",
        "yes" if found.is_found else "no",
        str(found.tried),
        f"{found.seconds:.1f}",
    ]
    return [Row(cells, [found.is_found])]


if __name__ == "__main__":
    sys.exit(main())
