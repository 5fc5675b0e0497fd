"""The pytest plugin: which tests it collects, which pass, which fail, and what a failure reports.

Each test runs pytest on a folder of lit tests, as in the repository of a user.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sdyopt.tools.lit.directives import SYSTEMS

CHECKOUT = Path(__file__).parents[3]
PASSING = "// RUN: cat %s | filecheck %s\n// CHECK-LABEL: {{^module}}\nmodule {}\n"
OPTIONS = "sdyopt_lit_paths = ."
# Plugins that take longer to import than a test takes to run.
WITHOUT_PLUGINS = ("-p", "no:xdist", "-p", "no:hypothesispytest")


def run_pytest(folder: Path, *arguments: str, options: str = OPTIONS, **environment: str) -> tuple[int, str]:
    """Runs pytest in a folder with the options of the plugin; returns its exit status and report."""
    (folder / "pytest.ini").write_text(f"[pytest]\n{options}\n")
    command = [sys.executable, "-m", "pytest", "-rsx", "--tb=short", *WITHOUT_PLUGINS, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), **environment}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout + done.stderr


def run_lit(folder: Path, **cases: str) -> tuple[int, str]:
    """Runs pytest on lit tests without a cache, as in a read-only folder."""
    for name, text in cases.items():
        (folder / f"{name}.mlir").write_text(text)
    return run_pytest(folder, "-p", "no:cacheprovider")


def test_a_case_passes_and_a_wrong_one_fails(tmp_path: Path) -> None:
    wrong = PASSING.replace("{{^module}}", "{{^func}}")
    status, report = run_lit(tmp_path, good=PASSING, wrong=wrong)
    assert status == 1
    assert "1 failed, 1 passed" in report


def test_a_failure_shows_its_run_line_its_output_and_a_command(tmp_path: Path) -> None:
    """The RUN line, what the programs print, and a command that can be pasted into a shell."""
    text = "module {}\n// RUN: sdy-opt %s -cse | \\\n// RUN: filecheck %s\n// CHECK: missing\n"
    status, report = run_lit(tmp_path, wrong=text)
    assert status == 1
    shown = report[report.index("wrong.mlir:2") :].splitlines()
    assert shown[:2] == [
        "wrong.mlir:2: RUN: sdy-opt %s -cse | filecheck %s",
        "`filecheck` ended with exit status 1",
    ]
    assert shown[3] == "--- stderr"
    assert 'wrong.mlir:4: error: Couldn\'t match "missing"' in shown[4]
    command = shown[shown.index("--- reproduce") + 1]
    assert command.endswith("wrong.mlir -cse | " + command.split(" | ")[1])
    done = subprocess.run(command, cwd=tmp_path, shell=True, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"missing" in done.stderr


def test_the_folder_of_commands_is_named(tmp_path: Path) -> None:
    (tmp_path / "lit").mkdir()
    (tmp_path / "lit" / "wrong.mlir").write_text("// RUN: not cat %s\n")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{OPTIONS}\n")
    command = [sys.executable, "-m", "pytest", "-q"]
    done = subprocess.run(command, cwd=tmp_path / "lit", capture_output=True, text=True, check=False)
    assert f"--- reproduce in {tmp_path}\n(! cat lit/wrong.mlir)" in done.stdout


def test_long_output_is_cut(tmp_path: Path) -> None:
    status, report = run_lit(tmp_path, long="// RUN: python -c 'print(\"a\" * 5000); 1/0'\n")
    assert status == 1
    assert "a\n… 1001 more characters" in report


def test_failure_of_a_later_line_fails(tmp_path: Path) -> None:
    status, report = run_lit(tmp_path, last=PASSING + "// RUN: false\n")
    assert status == 1
    assert "last.mlir:4: RUN: false\n`false` ended with exit status 1" in report


def test_failure_before_a_pipe_fails(tmp_path: Path) -> None:
    text = "// RUN: python -c 'print(1); raise SystemExit(3)' | filecheck %s\n// CHECK: 1\n"
    status, report = run_lit(tmp_path, first=text)
    assert status == 1
    assert "ended with exit status 3" in report


def test_an_error_in_the_program_is_shown(tmp_path: Path) -> None:
    text = "// RUN: sdy-opt %s | filecheck %s\n// CHECK: module\nfunc.func @f(\n"
    status, report = run_lit(tmp_path, broken=text)
    assert status == 1
    assert "`sdy-opt` ended with exit status 1, `filecheck` ended with exit status" in report
    assert "broken.mlir:3:" in report


def test_diagnostics_can_be_expected(tmp_path: Path) -> None:
    text = (
        "// RUN: sdy-opt %s --split-input-file --verify-diagnostics\n"
        "func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {\n"
        "  // expected-error @+1 {{doesn't match function result type}}\n"
        "  return %x : tensor<2xf32>\n"
        "}\n// -----\nmodule {}\n"
    )
    assert run_lit(tmp_path, good=text)[0] == 0
    status, report = run_lit(tmp_path, bad=text.replace("error @+1", "error @+2"))
    assert status == 1
    assert "bad.mlir:3:6: error: expected error \"doesn't match" in report


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("module {}\n", "case.mlir: error: no RUN line\nhelp: files that are not tests belong in"),
        ("// RUN: no-such-program %s\n", "case.mlir:1: error: no such program: no-such-program\nhelp:"),
        ("// RUN: cat %s | filecheck %s\nmodule {}\n", "filecheck"),  # nothing to check
        ("\n// RUN: cat %s; cat %s\n", "case.mlir:2: error: cannot run ';' in a RUN line\nhelp: write a RUN"),
        ("// RUN: cat %q\n", "case.mlir:1: error: unknown substitution '%q'"),
        ("// REQUIRES: refrence\n" + PASSING, "case.mlir: error: unknown feature 'refrence'"),
        ("// RUN: filecheck --implicit-check-not=x %s < %s\n// CHECK: a\n", "set sdyopt_lit_filecheck"),
    ],
)
def test_case_that_cannot_run_fails(tmp_path: Path, text: str, reason: str) -> None:
    status, report = run_lit(tmp_path, case=text)
    assert status == 1
    assert reason in report
    assert "Traceback" not in report


def test_hostile_cases_fail_with_an_error_and_without_control_characters(tmp_path: Path) -> None:
    (tmp_path / "no-program").write_bytes(b"\x01")
    (tmp_path / "no-program").chmod(0o755)
    status, report = run_lit(
        tmp_path,
        command="// RUN: sdy-opt --\x1b[31m %s\n",
        output="// RUN: not sdy-opt %s\n// RUN: python -c 'print(chr(27)); raise SystemExit(1)'\n\x1b[31m",
        directive="// REQUIRES: \x1b[31m\n" + PASSING,
        zero="// RUN: cat \0 %s\n",
        program="// RUN: ./no-program %s\n",
    )
    assert status == 1
    assert "5 failed" in report
    assert "\x1b" not in report
    assert r"RUN: sdy-opt --\x1b[31m %s" in report
    assert "zero.mlir:1: error: a RUN line has a NUL character" in report
    assert "program.mlir:1: error: cannot run ./no-program: Exec format error" in report
    assert "Traceback" not in report


def test_the_system_is_a_feature(tmp_path: Path) -> None:
    system = SYSTEMS[sys.platform]
    skipped = PASSING + f"// UNSUPPORTED: {system}\n"
    status, report = run_lit(tmp_path, here=PASSING + f"// REQUIRES: {system}\n", skipped=skipped)
    assert status == 0
    assert "1 passed, 1 skipped" in report
    assert f"unsupported with {system}" in report


def test_a_project_declares_features_and_substitutions(tmp_path: Path) -> None:
    """A conftest.py declares them with the hooks of the plugin."""
    (tmp_path / "conftest.py").write_text(
        "def pytest_sdyopt_lit_features():\n"
        "    return {'gpu': False, 'cpu': True}\n"
        "def pytest_sdyopt_lit_substitutions(config):\n"
        "    return {'%my-opt': 'sdy-opt -cse', '%root': str(config.rootpath)}\n"
    )
    used = "// RUN: %my-opt %s | filecheck %root/used.mlir\n// REQUIRES: cpu && !gpu\n// CHECK: module\n"
    status, report = run_lit(tmp_path, used=used, skipped=PASSING + "// REQUIRES: gpu\n")
    assert (status, "1 passed, 1 skipped" in report) == (0, True), report


def test_an_expected_failure_passes_and_an_unexpected_pass_fails(tmp_path: Path) -> None:
    status, report = run_lit(tmp_path, failing="// RUN: false\n// XFAIL: *\n")
    assert (status, "1 xfailed" in report) == (0, True)
    status, report = run_lit(tmp_path, passing="// RUN: true\n// XFAIL: *\n")
    assert status == 1
    assert "the test passes, but is expected to fail\nhelp: remove the XFAIL line" in report


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
    (tmp_path / "case.mlir").write_text(text)
    for _ in range(2):
        assert run_pytest(tmp_path)[0] == 0
    # They are in the cache of pytest, which git ignores.
    assert {path.name for path in tmp_path.iterdir()} == {"case.mlir", "pytest.ini", ".pytest_cache"}
    assert list((tmp_path / ".pytest_cache").rglob("case.mlir.tmp"))


def test_nothing_is_collected_or_imported_without_the_option(tmp_path: Path) -> None:
    """An installed plugin does not affect other runs of pytest."""
    (tmp_path / "case.mlir").write_text("// RUN: false\n")
    (tmp_path / "test_modules.py").write_text(
        "import sys\n"
        "def test_modules():\n"
        "    ours = {name for name in sys.modules if name.startswith('sdyopt')}\n"
        "    names = {'tools', 'tools.lit', 'tools.lit.hooks', 'tools.lit.plugin'}\n"
        "    assert ours == {'sdyopt', *('sdyopt.' + name for name in names)}\n"
    )
    status, report = run_pytest(tmp_path, options="")
    assert (status, "1 passed" in report) == (0, True), report
    # A file that is named on the command line is no exception: another plugin may collect it.
    status, report = run_pytest(tmp_path, "case.mlir", options="")
    assert status == 4
    assert "not found" in report
    assert "lit tests are collected only with the option sdyopt_lit_paths" in report


def test_only_the_paths_of_the_option_are_collected(tmp_path: Path) -> None:
    for name in ("lit", "programs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.mlir").write_text("// RUN: true\n")
    status, report = run_pytest(tmp_path, "-v", options="sdyopt_lit_paths = lit")
    assert (status, "lit/case.mlir::case PASSED" in report, "programs" in report) == (0, True, False)
    assert run_pytest(tmp_path, "-o", "sdyopt_lit_paths=programs", "programs", options="")[0] == 0


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("sdyopt_lit_paths = missing", "sdyopt_lit_paths: no such file or folder: "),
        ("sdyopt_lit_paths = .\nsdyopt_lit_timeout = soon", "'soon' is not a number of seconds"),
    ],
)
def test_invalid_options_are_usage_errors(tmp_path: Path, options: str, error: str) -> None:
    status, report = run_pytest(tmp_path, options=options)
    assert status == 4
    assert error in report


def test_a_test_that_takes_too_long_fails(tmp_path: Path) -> None:
    (tmp_path / "case.mlir").write_text("// RUN: python -c 'import time; time.sleep(100)'\n")
    status, report = run_pytest(tmp_path, options=f"{OPTIONS}\nsdyopt_lit_timeout = 1")
    assert status == 1
    assert "`python` ended with a timeout" in report


def test_filecheck_is_the_program_that_the_option_names(tmp_path: Path) -> None:
    """With LLVM's FileCheck, its options can be used that the Python package lacks."""
    (tmp_path / "case.mlir").write_text("// RUN: cat %s | FileCheck -x %s\n")
    (tmp_path / "my-check").write_text("#!/bin/sh\ntest $1 = -x\n")
    (tmp_path / "my-check").chmod(0o755)
    status, _ = run_pytest(tmp_path, options=f"{OPTIONS}\nsdyopt_lit_filecheck = {tmp_path}/my-check")
    assert status == 0


def test_the_option_may_name_the_filecheck_of_llvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is that of the tool that it replaces."""
    (tmp_path / "case.mlir").write_text("// RUN: cat %s | filecheck -x %s\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "FileCheck").write_text("#!/bin/sh\ntest $1 = -x\n")
    (tmp_path / "bin" / "FileCheck").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    status, _ = run_pytest(tmp_path, options=f"{OPTIONS}\nsdyopt_lit_filecheck = FileCheck")
    assert status == 0


def test_a_path_may_have_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "a case.mlir").write_text("// RUN: cp %s %t\n" + PASSING)
    assert run_pytest(tmp_path)[0] == 0
