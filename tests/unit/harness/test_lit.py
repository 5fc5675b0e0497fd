"""Lit tests in pytest: which pass, which fail, and what a failure reports.

Each test runs pytest on a folder of lit tests that use programs of the system, not sdy-opt.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
PASSING = "// RUN: cat %s | filecheck %s\n// CHECK-LABEL: {{^module}}\nmodule {}\n"


def run_lit(folder: Path, **cases: str) -> tuple[int, str]:
    """Runs pytest on a folder of lit tests and returns its exit status and report."""
    (folder / "conftest.py").write_text("from tests.lit.conftest import *\n")
    (folder / "pytest.ini").write_text("[pytest]\n")
    for name, text in cases.items():
        (folder / f"{name}.mlir").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", "--tb=short", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_passing_and_failing_cases(tmp_path: Path) -> None:
    wrong = PASSING.replace("{{^module}}", "{{^func}}")
    status, report = run_lit(tmp_path, good=PASSING, wrong=wrong)
    assert status == 1
    assert "1 failed, 1 passed" in report
    assert f"cat wrong.mlir | {sys.executable} -m filecheck wrong.mlir" in report
    assert "wrong.mlir:2" in report  # the message of filecheck


def test_failure_of_a_later_line_fails(tmp_path: Path) -> None:
    status, report = run_lit(tmp_path, last=PASSING + "// RUN: false\n")
    assert status == 1
    assert "`false` ended with exit status 1" in report


def test_failure_before_a_pipe_fails(tmp_path: Path) -> None:
    text = "// RUN: python -c 'print(1); raise SystemExit(3)' | filecheck %s\n// CHECK: 1\n"
    status, report = run_lit(tmp_path, first=text)
    assert status == 1
    assert "ended with exit status 3" in report


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("module {}\n", "no RUN line"),
        ("// RUN: no-such-program %s\n", "no such program"),
        ("// RUN: cat %s | filecheck %s\nmodule {}\n", "filecheck"),  # nothing to check
        ("// RUN: cat %s; cat %s\n", "cannot run ';'"),
        ("// REQUIRES: refrence\n" + PASSING, "unknown feature 'refrence'"),
    ],
)
def test_case_without_a_check_fails(tmp_path: Path, text: str, reason: str) -> None:
    status, report = run_lit(tmp_path, case=text)
    assert status == 1
    assert reason in report


def test_features(tmp_path: Path) -> None:
    skipped = PASSING + f"// UNSUPPORTED: {sys.platform}\n"
    status, report = run_lit(tmp_path, here=PASSING + f"// REQUIRES: {sys.platform}\n", skipped=skipped)
    assert status == 0
    assert "1 passed, 1 skipped" in report
    assert f"unsupported with {sys.platform}" in report


def test_inputs_are_not_collected(tmp_path: Path) -> None:
    (tmp_path / "Inputs").mkdir()
    (tmp_path / "Inputs" / "part.mlir").write_text("module {}\n")
    status, report = run_lit(
        tmp_path, case="// RUN: cat %S/Inputs/part.mlir | filecheck %s\n// CHECK: module\n"
    )
    assert (status, "1 passed" in report) == (0, True)


def test_temporary_files_are_fresh(tmp_path: Path) -> None:
    text = (
        "// RUN: split-file %s %t\n"
        "// RUN: not ls %t/second\n"
        "// RUN: cat %t/first > %t/second\n"
        "// RUN: filecheck --input-file %t/second %s\n"
        "// CHECK: module\n"
        "//--- first\nmodule {}\n"
    )
    for _ in range(2):
        assert run_lit(tmp_path, case=text)[0] == 0
