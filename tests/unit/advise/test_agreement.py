"""Check, lint, explanations and advise have the same change for a place, or none."""

import re
from pathlib import Path

import pytest

from benchmarks.advice.crossed import crossed
from sdyopt.tools.driver.job import interpreter_settings

ROOT = Path(__file__).parents[3]
# Their changes are of the kinds that others have, and they take a third of the time of all.
SLOW = ("gradients", "phases", "tied_parameters")
# Those of one file: others have several programs.
CHECKED = sorted(
    path
    for folder in ("advise", "check")
    for path in (ROOT / "tests" / "lit" / folder).glob("*.mlir")
    if path.stem not in SLOW and not re.search("// ?---", path.read_text(encoding="utf-8"))
)
PROGRAMS = {path.stem: path for path in (ROOT / "examples" / "mlp.mlir", *CHECKED)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_commands_agree(name: str) -> None:
    with interpreter_settings():
        found = list(crossed(PROGRAMS[name].read_text(encoding="utf-8")))
        assert found or name != "mlp"
        assert [each.place for each in found if not each.agrees] == []
