"""Reads the input and writes the output files."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from weakref import finalize

from sdyopt.analysis.flag import STDIN, STDOUT
from sdyopt.diagnostics.native_text import from_native, native_path

STDIN_NAME = "<stdin>"


class FileProblem(Exception):
    """A file cannot be read or written."""


class Input:
    """The bytes of an input, until they are taken: once they are decoded, nothing needs them."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self) -> bytes:
        """Returns the bytes, and keeps none."""
        data, self._data = self._data, b""
        return data


def read_input(path: str) -> bytes:
    """The bytes of a file, or of stdin for `-`. Raises FileProblem."""
    try:
        return _read_stdin() if path == STDIN else native_path(path).read_bytes()
    except OSError as problem:
        why = problem.strerror if path else "the name is empty"
    except MemoryError:
        # Some devices, such as /dev/zero, have no end.
        why = os.strerror(errno.ENOMEM)
    raise FileProblem(f"cannot open input file '{path}': {why}")


def programs_of(path: str) -> list[str]:
    """The .mlir files in a folder and its sub-folders, sorted; any other path alone."""
    folder = native_path(path)
    try:
        is_folder = folder.is_dir()
    except OSError:
        # The name is too long, which reading the file reports.
        is_folder = False
    if not path or not is_folder:
        return [path]
    return [from_native(str(file)) for file in sorted(folder.rglob("*.mlir")) if file.is_file()]


def _read_stdin() -> bytes:
    # None if stdin was closed when the process started.
    if sys.stdin is None:
        raise _os_error(errno.EBADF)
    if sys.stdin.isatty():
        write_to_stderr("(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n")
    return sys.stdin.buffer.read()


def _write_stdout(pages: Iterable[str]) -> None:
    if sys.stdout is None:
        raise _os_error(errno.EBADF)
    sys.stdout.flush()
    _write_pages(sys.stdout.buffer, pages)
    sys.stdout.buffer.flush()


def _write_pages(file: BinaryIO, pages: Iterable[str]) -> None:
    for page in pages:
        file.write(encode(page))


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def write_file(path: str, text: str) -> None:
    """Writes an additional output file, and creates missing parent directories. Raises FileProblem.

    As with `Output`, an existing file is replaced by a complete one.
    """
    try:
        native_path(path).parent.mkdir(parents=True, exist_ok=True)
        Output(path).write(text)
    except OSError as problem:
        raise FileProblem(f"cannot open output file '{path}': {problem.strerror}") from None


def open_log(path: str) -> Callable[[str], None]:
    """A function that appends text to a new file, or to stderr for `-`. Raises FileProblem."""
    if path == STDOUT:
        return write_to_stderr
    try:
        native_path(path).parent.mkdir(parents=True, exist_ok=True)
        file = native_path(path).open("wb", buffering=0)
    except OSError as problem:
        raise FileProblem(f"cannot open output file '{path}': {problem.strerror}") from None

    def write(text: str) -> None:
        try:
            file.write(encode(text))
        except OSError as problem:
            raise FileProblem(f"cannot write output file '{path}': {problem.strerror}") from None

    finalize(write, file.close)
    return write


def write_to_stderr(text: str) -> None:
    """Writes text to stderr. It is lost if stderr is closed or full, for there is nowhere to report that."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(text)


def is_same_file(path: str, other: str) -> bool:
    """Whether two paths name the same file; False for a device or a pipe, which may have several uses."""
    try:
        return os.path.realpath(path) == os.path.realpath(other) and not _is_special(path)
    except FileNotFoundError:
        # The working directory was deleted, so relative paths name no files.
        return False


def _is_special(path: str) -> bool:
    try:
        mode = native_path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def encode(text: str) -> bytes:
    """The text as UTF-8; surrogate escapes become the bytes that were not UTF-8 in the input."""
    return text.encode("utf-8", "surrogateescape")


class Output:
    """An output: stdout, or a file. A file is written as a temporary file, which is then renamed.

    So an existing file is unchanged if the job fails. The temporary file is created when the output is
    opened, so that an unwritable directory is an error before the job runs. With `makes_folder`, a missing
    directory is created. All methods raise FileProblem.
    """

    def __init__(self, path: str, makes_folder: bool = False) -> None:
        self._path = native_path(path)
        self._makes_folder = makes_folder
        self._is_stdout = path == STDOUT
        self._temporary: Path | None = None
        # An existing path that is not a regular file, such as a pipe, is written to directly.
        if not self._is_stdout and self._is_regular():
            try:
                self._path = self._path.resolve()
            except FileNotFoundError as problem:
                # The working directory was deleted.
                raise self._problem(problem) from None
            self._create()

    def write(self, text: str) -> None:
        """Writes the complete output."""
        self.write_pages((text,))

    def write_pages(self, pages: Iterable[str]) -> None:
        """Writes the complete output, whose text is in parts."""
        try:
            if self._is_stdout:
                _write_stdout(pages)
                return
            with (self._temporary or self._path).open("wb") as file:
                _write_pages(file, pages)
            if self._temporary is not None:
                self._temporary.replace(self._path)
                self._temporary = None
        except BrokenPipeError:
            # The reader of a pipe may close it early.
            raise
        except OSError as problem:
            raise self._problem(problem, "write") from None

    def discard(self) -> None:
        """Removes the temporary file of an output that was not written."""
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None

    def _is_regular(self) -> bool:
        """Whether the path is a regular file or missing."""
        try:
            mode = self._path.stat().st_mode
        except FileNotFoundError:
            return True
        except OSError as problem:
            # The name is too long, or a loop of links.
            raise self._problem(problem) from None
        if stat.S_ISDIR(mode):
            raise self._problem(_os_error(errno.EISDIR))
        return stat.S_ISREG(mode)

    def _create(self) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            if self._makes_folder:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(b"")
            if self._path.exists():
                temporary.chmod(self._path.stat().st_mode & 0o7777)
        except OSError as problem:
            raise self._problem(problem) from None
        self._temporary = temporary

    def _problem(self, problem: OSError, what: str = "open") -> FileProblem:
        return FileProblem(f"cannot {what} output file '{from_native(str(self._path))}': {problem.strerror}")
