"""`import sdyopt` imports nothing else, and programs without reports import nothing for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sdyopt

ROOT = Path(__file__).parents[3]


def modules_after(code: str) -> set[str]:
    report = f"import sys\n{code}\nprint(*sys.modules)"
    arguments = [sys.executable, "-c", report]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_names_are_imported_when_used() -> None:
    assert "sdyopt.tools.api" not in modules_after(
        "import sdyopt; dir(sdyopt); sdyopt.__version__; sdyopt.__all__"
    )
    assert "sdyopt.tools.api" in modules_after("import sdyopt; sdyopt.parse")
    assert "sdyopt.tools.api" in modules_after("from sdyopt import parse")


def test_running_passes_imports_neither_click_nor_rich() -> None:
    code = "import sdyopt; sdyopt.parse('func.func private @f()').run('cse')._repr_html_()"
    assert not modules_after(code) & {
        "click",
        "rich",
        "sdyopt.tools.cli",
        "sdyopt.analysis.figures.program_report",
    }


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="module 'sdyopt' has no attribute 'pars'"):
        sdyopt.pars  # type: ignore[attr-defined]  # noqa: B018  as tested
    assert {"parse", "Module", "__version__"} <= set(dir(sdyopt))
