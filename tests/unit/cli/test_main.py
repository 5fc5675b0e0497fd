"""The command: exit statuses, and errors without tracebacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sdyopt import __version__
from sdyopt.base.diagnostics.render import leave_plain, paint
from sdyopt.tools import cli
from sdyopt.tools.cli import main
from sdyopt.tools.cli.request import choose_paint

MODULE = "module {\n}\n\n"


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "in.mlir"
    path.write_text("module {}")
    return str(path)


def test_version_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capfd.readouterr() == (f"sdy-opt {__version__}, Shardy as in jaxlib-0.12.0.1\n", "")


def test_a_program_round_trips(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([program]) == 0
    assert capfd.readouterr() == (MODULE, "")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["-cannonicalize"], "Unknown command line argument '-cannonicalize'.  Try: 'sdy-opt --help'"),
        (["-cannonicalize"], "help: did you mean '--canonicalize'?"),
        (["--verify-eahc"], "help: did you mean '--verify-each'?"),
        (
            ["-max-iterations=3"],
            "help: 'max-iterations' is an option of a pass; write -canonicalize='max-iterations=3'",
        ),
        # A boolean option without a value is true.
        (
            ["-sink-debug-sharding-origins"],
            "help: 'sink-debug-sharding-origins' is an option of a pass; "
            "write -sdy-sink-data-flow-edges='sink-debug-sharding-origins=true'",
        ),
        (["-cse=x=1"], "<Pass-Options-Parser>: no such option x\nfailed to add `cse` with options `x=1`"),
        (
            ["--pass-pipeline=builtin.module(csee)"],
            "'csee' does not refer to a registered pass or pass pipeline",
        ),
        (["--pass-pipeline=cse"], "help: write builtin.module(cse)"),
        (
            ["--pass-pipeline=any(cse)", "-cse"],
            "'-pass-pipeline' option can't be used with individual pass options\n"
            "help: move -cse into the text of the pipeline, or make all of it flags",
        ),
        (
            ["--mlir-print-ir-after=csee"],
            "for the --mlir-print-ir-after option: Cannot find option named 'csee'!",
        ),
        (
            ["--load-pass-plugin=none-such"],
            "Failed to load passes from 'none-such': no installed package has this entry point",
        ),
        (["-cse,canonicalize"], "help: write -cse -canonicalize"),
        (["--mlir-print-ir-after=loops"], "help: --list-passes lists the passes"),
        (["--help-pass=loops"], "help: --list-passes lists the passes"),
        (["--help-pass=csee"], "help: did you mean 'cse'?"),
    ],
)
def test_usage_errors_have_status_2_and_print_a_message_only(
    argv: list[str], message: str, program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*argv, program]) == 2
    out, error = capfd.readouterr()
    assert not out
    assert message in error


def test_files_that_cannot_be_opened_are_errors(
    program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "missing")]) == 1
    assert main([program, "-o", str(tmp_path / "missing" / "out")]) == 1
    assert "cannot open input file" in (error := capfd.readouterr().err)
    assert "cannot open output file" in error


def test_a_failed_run_keeps_the_existing_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad, result = tmp_path / "bad.mlir", tmp_path / "out"
    bad.write_text("module {")
    result.write_text("before")
    assert main([str(bad), "-o", str(result)]) == 1
    assert result.read_text() == "before"
    assert f"{bad}:1:" in capfd.readouterr().err
    assert sorted(tmp_path.iterdir()) == [bad, result]


def test_the_pipeline_is_dumped_in_the_order_of_the_flags(
    program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([program, "-cse", "-symbol-dce", "--cse", "--dump-pass-pipeline"]) == 0
    assert capfd.readouterr().err == "Pass Manager with 3 passes:\nbuiltin.module(cse,symbol-dce,cse)\n\n"


def test_internal_errors_show_no_traceback(
    program: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(cli, "_process", fail)
    assert main([program]) == 1
    error = capfd.readouterr().err
    message, where, help = error.splitlines()
    assert message == "sdy-opt: internal error: ZeroDivisionError: oops"
    assert re.fullmatch(rf"raised at {re.escape(__file__)}:\d+, in fail", where)
    assert help.startswith(
        f"help: this is a bug in sdy-opt {__version__}; report it to its maintainers with "
    )
    monkeypatch.setenv("SDY_OPT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main([program])


def test_interrupts_are_quiet(
    program: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_process", interrupt)
    assert main([program]) == 130
    assert capfd.readouterr() == ("", "")


def test_warnings_of_python_about_a_regular_expression_are_not_printed() -> None:
    outcome = run("-verify-diagnostics", data=b"// expected-error-re @+1 {{{{[[:]x]|.*}}}}\nx\n")
    assert b"Warning" not in outcome.stderr


def run(
    *argv: str, data: bytes = b"", stdout: int = subprocess.PIPE, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs the command in a process."""
    return subprocess.run(
        [sys.executable, "-m", "sdyopt", *argv],
        input=data,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment,
        check=False,
    )


def test_a_closed_pipe_is_a_failure_without_a_message(program: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run(program, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_stdin_is_read_if_the_input_is_missing_or_a_hyphen(tmp_path: Path) -> None:
    assert run(data=b"module {}").stdout.decode() == MODULE
    done = run("-", data=b"module {")
    assert done.returncode == 1
    assert done.stderr.startswith(b"<stdin>:1:")


def test_closed_and_full_streams_are_errors(program: str) -> None:
    with Path("/dev/full").open("wb") as full:
        for argv in ([program], ["--help"], ["--version"]):
            done = run(*argv, stdout=full.fileno())
            assert (done.returncode, done.stderr) == (
                1,
                b"sdy-opt: cannot write output file '-': No space left on device\n",
            )
    for closing, argv, what in ((1, [program], "write output"), (0, ["-"], "open input")):
        shell = f'exec "$@" {closing}>&-'
        command = ["sh", "-c", shell, "sh", sys.executable, "-m", "sdyopt", *argv]
        closed = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (closed.returncode, closed.stderr) == (
            1,
            f"sdy-opt: cannot {what} file '-': Bad file descriptor\n",
        )


def test_completion_of_a_flag() -> None:
    environment = {
        **os.environ,
        "_SDY_OPT_COMPLETE": "bash_complete",
        "COMP_WORDS": "sdy-opt --can",
        "COMP_CWORD": "1",
    }
    done = run(environment=environment)
    assert done.stdout.decode().split() == ["plain,--canonicalize"]


@pytest.mark.parametrize(
    ("environment", "flag", "is_painted"),
    [
        ({}, "", False),
        ({}, "auto", False),
        ({}, "always", True),
        ({"FORCE_COLOR": "1"}, "", True),
        ({"FORCE_COLOR": "1"}, "never", False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "", False),
        ({"NO_COLOR": "1"}, "always", True),
        ({"NO_COLOR": "", "FORCE_COLOR": ""}, "", False),
    ],
)
def test_when_diagnostics_are_colored(
    environment: dict[str, str], flag: str, is_painted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert choose_paint(flag) is (paint if is_painted else leave_plain)
