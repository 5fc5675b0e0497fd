"""Reading the input and writing the results: the only place that touches files."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from sdyopt.diagnostics.native_text import from_native, native_path

STDIN = STDOUT = "-"
STDIN_NAME = "<stdin>"


class FileProblem(Exception):
    """A file cannot be read or written."""


def read_input(path: str) -> bytes:
    """The bytes of a file, or of stdin for `-`."""
    try:
        return _read_stdin() if path == STDIN else native_path(path).read_bytes()
    except OSError as problem:
        raise FileProblem(f"cannot open input file '{path}': {problem.strerror}") from None


def _read_stdin() -> bytes:
    # Python has none if it was closed when the process started.
    if sys.stdin is None:
        raise _os_error(errno.EBADF)
    if sys.stdin.isatty():
        sys.stderr.write("(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n")
    return sys.stdin.buffer.read()


def _write_stdout(data: bytes) -> None:
    if sys.stdout is None:
        raise _os_error(errno.EBADF)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def write_file(path: str, text: str) -> None:
    """Writes a file that the job makes besides its output, with the folders that it needs."""
    try:
        native_path(path).parent.mkdir(parents=True, exist_ok=True)
        native_path(path).write_bytes(encode(text))
    except OSError as problem:
        raise FileProblem(f"cannot open output file '{path}': {problem.strerror}") from None


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Output:
    """Where the result goes: stdout, or a file that appears when it is complete.

    A file that is there stays as it is until then, and for good if the job fails. The new one is
    made when the output is opened, so that a folder that cannot be written to is found out before
    the work is done.
    """

    def __init__(self, path: str) -> None:
        self._path = native_path(path)
        self._is_stdout = path == STDOUT
        self._temporary: Path | None = None
        if not self._is_stdout and self._path.is_dir():
            raise self._problem(_os_error(errno.EISDIR))
        # What is there and no file, such as a pipe, cannot be replaced by one.
        if not self._is_stdout and (self._path.is_file() or not self._path.exists()):
            self._path = self._path.resolve()
            self._create()

    def write(self, text: str) -> None:
        """Writes all of the result."""
        try:
            if self._is_stdout:
                _write_stdout(encode(text))
                return
            (self._temporary or self._path).write_bytes(encode(text))
            if self._temporary is not None:
                self._temporary.replace(self._path)
                self._temporary = None
        except BrokenPipeError:
            # Who reads a pipe may have enough.
            raise
        except OSError as problem:
            raise self._problem(problem, "write") from None

    def discard(self) -> None:
        """Leaves no trace of a result that was not written."""
        if self._temporary is not None:
            self._temporary.unlink()
            self._temporary = None

    def _create(self) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            temporary.write_bytes(b"")
            if self._path.exists():
                temporary.chmod(self._path.stat().st_mode & 0o7777)
        except OSError as problem:
            raise self._problem(problem) from None
        self._temporary = temporary

    def _problem(self, problem: OSError, what: str = "open") -> FileProblem:
        return FileProblem(f"cannot {what} output file '{from_native(str(self._path))}': {problem.strerror}")
