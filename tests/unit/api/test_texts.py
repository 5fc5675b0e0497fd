"""The whole texts of reports, explanations, lints, checks and sweeps of drawn programs: the page texts.txt.

python -m tests.unit.api.test_texts    # writes the page
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sdyopt
from tests.unit.report.programs import parts_of_page
from tests.unit.report.test_drawn_programs import sharded_program

PAGE = Path(__file__).with_name("texts.txt")
# Programs that are checked in a second, and those that are only reported on.
CHECKED, REPORTED = (102, 106, 109), range(120, 126)
NAMES = (*(f"checked {number}" for number in CHECKED), *(f"reported {number}" for number in REPORTED))


def part_of(name: str) -> str:
    """The part of the page for a program."""
    lines = [line for text in _texts(*name.split()) for line in text.splitlines()]
    return "".join(f"{line}\n" for line in (name, *(f"  {line}".rstrip() for line in lines)))


def _texts(kind: str, number: str) -> Iterator[str]:
    is_checked, is_odd = kind == "checked", int(number) % 2
    module = sdyopt.parse(sharded_program(int(number), 3))
    if is_checked:
        yield str(module.lint())
        yield str(sdyopt.check(module, topology="tpu-v5e"))
        whats = ["#0", "#9", "model.py:3"]
    else:
        report = str(module.report(topology="h100" if is_odd else "tpu-v5e"))
        # Without how exact figures are.
        yield re.split(r"\n +error of|\n\naccuracy", report)[0]
        whats = ["w", "result 0", "%5"]
    for what in whats:
        try:
            yield f"explain {what}: {module.explain(what)}"
        except sdyopt.Error as error:
            yield f"explain {what}: {error}"


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_those_of_the_page(name: str) -> None:
    assert part_of(name) == parts_of_page(PAGE).get(name)


if __name__ == "__main__":
    PAGE.write_text("".join(map(part_of, NAMES)), encoding="utf-8")
