"""What users wait for when sdy-opt starts: the modules that a run imports."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def modules_imported_by(*arguments: str) -> set[str]:
    """The modules a run imports, as Python itself reports them while it runs."""
    command = [sys.executable, "-X", "importtime", "-m", "sdyopt", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    modules = {line.rpartition("|")[2].strip() for line in lines}
    assert "sdyopt.cli" in modules
    return modules


def test_version_needs_little() -> None:
    modules = modules_imported_by("--version")
    assert not modules & {"lark", "rich", "sdyopt.ir", "sdyopt.syntax", "sdyopt.driver"}


@pytest.mark.parametrize("flag", ["-sdy-close-shardings"])
def test_a_flag_imports_its_pass_alone(flag: str) -> None:
    modules = modules_imported_by("benchmarks/small.mlir", flag)
    passes = {name for name in modules if name.startswith("passes.") and name.count(".") == 2}
    assert passes == {"passes.exporting.close_shardings"}
    assert "rich" not in modules
