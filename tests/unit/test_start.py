"""Start-up: the modules that a run imports."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


# Like the command, but reports the imported modules instead of exiting at once.
REPORT = """
import sys
from sdyopt.tools.cli import main
status = main(sys.argv[1:])
print(*sorted(sys.modules), sep="\\n", file=sys.stderr)
sys.exit(status)
"""


def modules_imported_by(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", REPORT, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    modules = set(done.stderr.split())
    assert "sdyopt.tools.cli" in modules
    return modules


def test_version_imports_no_libraries_and_not_the_core() -> None:
    modules = modules_imported_by("--version")
    assert not modules & {"lark", "rich", "sdyopt.mlir.ir", "sdyopt.mlir.asm", "sdyopt.tools.driver"}


@pytest.mark.parametrize("flag", ["-sdy-close-shardings"])
def test_a_flag_imports_only_its_pass_and_common_ones(flag: str) -> None:
    modules = modules_imported_by("benchmarks/small.mlir", flag)
    passes = {name for name in modules if name.startswith("passes.") and name.count(".") == 2}
    assert {name for name in passes if "common" not in name} == {"passes.exporting.close_shardings"}
    assert not modules & {"rich", "dataclasses", "inspect", "difflib", "json", "fractions", "decimal"}
    assert not any(name.startswith("sdyopt.mlir.error_help") for name in modules)


def test_only_a_page_imports_what_makes_html() -> None:
    modules = modules_imported_by("benchmarks/small.mlir", "--report")
    assert "sdyopt.analysis.report.formats" in modules
    assert not modules & {"htpy", "markupsafe", "sdyopt.analysis.report.check.checker"}
