"""The width of terminals, also of those that have none."""

import fcntl
import os
import struct
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdyopt.base.diagnostics.render import DEFAULT_COLUMNS
from sdyopt.tools.cli import main, request
from sdyopt.tools.driver.job import TERMINAL_OP_LINES


@pytest.fixture
def terminal() -> Iterator[int]:
    """A new terminal has no size."""
    ends = os.openpty()
    yield ends[1]
    for end in ends:
        os.close(end)


@pytest.mark.parametrize(
    ("columns", "width"),
    [("", DEFAULT_COLUMNS), ("0", DEFAULT_COLUMNS), ("70", 70), ("wide", DEFAULT_COLUMNS), ("9" * 5000, 100)],
)
def test_a_terminal_without_a_size_has_that_of_the_environment(
    terminal: int, monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert request._terminal_columns(terminal) == width


def test_a_terminal_with_a_size_has_that(terminal: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 132, 0, 0))
    monkeypatch.setenv("COLUMNS", "70")
    assert request._terminal_columns(terminal) == 132


def test_operations_in_diagnostics_are_cut_off_on_a_terminal_without_a_size(
    terminal: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(request, "STDERR_NUMBER", terminal)
    assert request._max_op_lines(None) == TERMINAL_OP_LINES


def test_a_file_is_no_terminal(tmp_path_factory: pytest.TempPathFactory) -> None:
    with (tmp_path_factory.mktemp("file") / "out").open("wb") as file:
        assert request._terminal_columns(file.fileno()) == 0


def test_bytecode_is_not_written_to_a_terminal(
    terminal: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.mlir").write_text("func.func @f() { return }")
    output = tmp_path / "f.mlirbc"
    with os.fdopen(os.dup(terminal), "w", encoding="utf-8") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        for flag in ("--emit-bytecode", "--target=1.0.0"):
            assert main([str(tmp_path / "f.mlir"), flag]) == 2
            assert main([str(tmp_path / "f.mlir"), flag, "-o", str(output)]) == 0
    message = "sdy-opt: bytecode is not written to a terminal\nhelp: name a file with -o\n"
    assert capsys.readouterr().err == 2 * message
    assert output.read_bytes().startswith(b"ML\xefR")
