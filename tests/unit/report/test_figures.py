"""The exact figures of small programs on two machines: the page figures.txt.

    python -m tests.unit.report.test_figures    # writes the page, and exact_figures.txt

Reports round figures. What moves here when a model changes is what the change does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.tools.driver.job import interpreter_settings
from tests.unit.advise.test_proposals import parsed
from tests.unit.report import conftest
from tests.unit.report.programs import parts_of_page
from tests.unit.report.test_drawn_programs import sharded_program

PAGE, _ROOT = Path(__file__).with_name("figures.txt"), Path(__file__).parents[3]
_FILES, _MACHINES = ("tests/lit/report/*", "tests/lit/check/*", "examples/*_train"), ("tpu-v5e", "h100")


def files() -> list[str]:
    """The programs of the page, in its order: those of files, and drawn ones."""
    drawn = [f"drawn {number}" for number in range(50)]
    of_patterns = [file for pattern in _FILES for file in sorted(_ROOT.glob(f"{pattern}.mlir"))]
    return [*(file.relative_to(_ROOT).as_posix() for file in of_patterns), *drawn]


def part_of(file: str) -> str:
    """The part of the page for a program: a line for each part of it and each machine."""
    return "".join(f"{line}\n" for line in _lines(file))


def _lines(file: str) -> Iterator[str]:
    yield file
    drawn = file.removeprefix("drawn ")
    whole = sharded_program(int(drawn)) if drawn != file else (_ROOT / file).read_text(encoding="utf-8")
    for number, text in enumerate(whole.split("// -----\n")):
        for machine in _MACHINES:
            try:
                yield f"  {number} {machine}: {figures_text(text, machine)}"
            except DiagnosticError:
                break


def figures_text(text: str, machine: str) -> str:
    with interpreter_settings():
        module = parsed(text)
        outcome = Trials(module, completing_pipeline(module), built_in_topology(machine)).outcome
        if outcome is None:
            return "a pass fails"
        figures = outcome.figures
        live = outcome.report.memory.live_at_peak
    values = [
        f"{name} {f'{float(value):.9g}' if isinstance(value, Fraction) else value}"
        for name, value in zip(figures._fields, figures, strict=True)
        if value and name != "reshards"
    ]
    return ", ".join([*values, *(f"{value.role} {value.bytes}" for value in live)])


@pytest.mark.parametrize("file", files())
def test_figures_are_those_of_the_page(file: str) -> None:
    assert part_of(file) == parts_of_page(PAGE).get(file), (
        "python -m tests.unit.report.test_figures writes the page"
    )


def test_the_page_has_no_other_files() -> None:
    assert list(parts_of_page(PAGE)) == files()


if __name__ == "__main__":
    PAGE.write_text("".join(map(part_of, files())), encoding="utf-8")
    conftest.PAGE.write_text("", encoding="utf-8")
    tests = [str(PAGE.with_name(f"{name}.py")) for name in conftest.MODULES]
    written = {**os.environ, conftest.WRITTEN: str(conftest.PAGE)}
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *tests], env=written, check=True)
