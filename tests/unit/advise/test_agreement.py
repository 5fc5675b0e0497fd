"""Check, lint, explanations and advise have the same change for a place, or none."""

from pathlib import Path

import pytest

from benchmarks.advice.crossed import crossed
from sdyopt.tools.driver.job import interpreter_settings

ROOT = Path(__file__).parents[3]
# Those of one file: others have several programs.
CHECKED = sorted(
    path
    for folder in ("advise", "check")
    for path in (ROOT / "tests" / "lit" / folder).glob("*.mlir")
    if "// ---" not in path.read_text(encoding="utf-8") and "//---" not in path.read_text(encoding="utf-8")
)
PROGRAMS = {path.stem: path for path in (ROOT / "examples" / "mlp.mlir", *CHECKED)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_commands_agree(name: str) -> None:
    with interpreter_settings():
        found = list(crossed(PROGRAMS[name].read_text(encoding="utf-8")))
        assert found or name != "mlp"
        assert [each.place for each in found if not each.agrees] == []
