"""Reads the input and writes the output files."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from weakref import finalize

from sdyopt.analysis.interface.flag import STDIN, STDOUT
from sdyopt.base.diagnostics.text import from_native, native_path
from sdyopt.base.diagnostics.usage import UsageError, closest
from sdyopt.base.diagnostics.whole_files import Replacement, encode, read_file, read_stream
from sdyopt.tools.cli.arguments import Arguments
from sdyopt.tools.cli.flags import FLAGS

STDIN_NAME = "<stdin>"


# A folder may have any number of files.
_MOST_NAMES = 10_000

# The exit statuses of the commands.
SUCCESS, FAILURE, WRONG_USAGE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


class FileProblem(Exception):
    """A file cannot be read or written. `help` says what to do about it, if that is known."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


class Input:
    """The bytes of an input, until they are taken: once they are decoded, nothing needs them."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self) -> bytes:
        """Returns the bytes, and keeps none."""
        data, self._data = self._data, b""
        return data


def read_input(path: str, limit: int | None = None) -> bytes:
    """The bytes of a file, or of stdin for `-`. Raises FileProblem, also for more bytes than `limit`."""
    try:
        return _read_stdin(limit) if path == STDIN else read_file(native_path(in_dump(path)), limit)
    except OSError as problem:
        why, help = (problem.strerror, _similar_file(path)) if path else ("the name is empty", "")
    except MemoryError:
        why, help = os.strerror(errno.ENOMEM), ""
    raise FileProblem(f"cannot open input file '{path}': {why}", help)


def _similar_file(path: str) -> str:
    """`did you mean 'model.mlir'?`, for a file of the same folder; "" if none has a similar name."""
    folder, name = os.path.split(path)
    try:
        with os.scandir(native_path(folder or os.curdir)) as entries:
            names = [from_native(entry.name) for entry in islice(entries, _MOST_NAMES)]
    except OSError:
        return ""
    similar = None if name in names else closest(name, names)
    return "" if similar is None else f"did you mean '{os.path.join(folder, similar)}'?"  # noqa: PTH118


def in_dump(path: str) -> str:
    """The file that a path to a folder of XLA's dumps names; any other path as it is.

    Raises FileProblem if it names none.
    """
    # A test that costs nothing for most paths.
    if ":" not in path and not is_folder(path):
        return path
    from sdyopt.tools.driver.xla_dump import DumpError, dumped_file, is_dump

    if not is_dump(path):
        return path
    try:
        return dumped_file(path)
    except DumpError as error:
        raise FileProblem(f"cannot open input file '{path}': {error.message}", error.help) from None
    except OSError:
        # Reading the folder as a file reports why.
        return path


def is_folder(path: str) -> bool:
    """Whether a path names a folder."""
    return os.path.isdir(path)  # noqa: PTH112  pathlib is slow to import


def dump_table(folder: str) -> str:
    """A table of the programs in a folder of XLA's dumps. Raises FileProblem."""
    from sdyopt.tools.driver.xla_dump import DumpError, table_text

    try:
        return table_text(folder)
    except DumpError as error:
        raise FileProblem(f"cannot open input file '{folder}': {error.message}", error.help) from None
    except OSError as problem:
        raise FileProblem(f"cannot open input file '{folder}': {problem.strerror}") from None


def programs_of(path: str) -> list[str]:
    """The .mlir files in a folder and its sub-folders, sorted; any other path alone.

    A folder that cannot be read stands for itself, so that reading it as a file reports why.
    """
    folder = native_path(path)
    try:
        is_folder = folder.is_dir()
    except OSError:
        # The name is too long, which reading the file reports.
        is_folder = False
    if not path or not is_folder:
        return [path]
    return [from_native(str(file)) for file in sorted(map(Path, _files_below(str(folder))))]


def _files_below(folder: str) -> Iterator[str]:
    """The .mlir files, and the folders that cannot be read. A link to a folder is not followed."""
    folders = [folder]
    while folders:
        try:
            with os.scandir(folder := folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.name.endswith(".mlir") and _is_readable_file(entry):
                        yield entry.path
        except OSError:
            yield folder


def _is_readable_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a regular file, or reading it reports why not. A link to nothing is neither."""
    try:
        return entry.is_file()
    except OSError:
        return True


def _read_stdin(limit: int | None) -> bytes:
    # None if stdin was closed when the process started.
    if sys.stdin is None:
        raise _os_error(errno.EBADF)
    if sys.stdin.isatty():
        write_to_stderr("(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n")
    return read_stream(sys.stdin.buffer, limit)


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
            rest = memoryview(encode(text))
            while rest:
                rest = rest[file.write(rest) :]
        except OSError as problem:
            # The log is not whole, as on a full disk.
            if not _is_special(path):
                native_path(path).unlink(missing_ok=True)
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


class Output:
    """An output: stdout, or a file, which is written whole or not at all.

    So an existing file is unchanged if the job fails. The temporary file is created when the output is
    opened, so that an unwritable directory is an error before the job runs. With `makes_folder`, a missing
    directory is created. All methods raise FileProblem.
    """

    def __init__(self, path: str, makes_folder: bool = False) -> None:
        self._path = path
        self._file: Replacement | None = None
        if path == STDOUT:
            return
        try:
            target = native_path(path)
            if target.is_dir():
                raise _os_error(errno.EISDIR)
            if makes_folder:
                target.parent.mkdir(parents=True, exist_ok=True)
            self._file = Replacement(target)
        except OSError as problem:
            # Also if the name is too long, at a loop of links, and if the working directory was deleted.
            raise self._problem(problem) from None

    def write(self, text: str) -> None:
        """Writes the complete output."""
        self.write_pages((text,))

    def write_pages(self, pages: Iterable[str]) -> None:
        """Writes the complete output, whose text is in parts."""
        try:
            if self._file is None:
                if sys.stdout is None:
                    raise _os_error(errno.EBADF)
                sys.stdout.flush()
                for page in pages:
                    sys.stdout.buffer.write(encode(page))
                sys.stdout.buffer.flush()
            else:
                self._file.write(pages)
        except BrokenPipeError:
            # The reader of a pipe may close it early.
            raise
        except OSError as problem:
            raise self._problem(problem, "write") from None

    def discard(self) -> None:
        """Removes the temporary file of an output that was not written."""
        if self._file is not None:
            self._file.discard()

    def _problem(self, problem: OSError, what: str = "open") -> FileProblem:
        return FileProblem(f"cannot {what} output file '{self._path}': {problem.strerror}")


def check_files(arguments: Arguments, inputs: Sequence[str]) -> None:
    """Raises UsageError for an output file without a name, or that is an input or another flag's file."""
    written = [(flag.name, flag.writes) for flag in FLAGS.values() if flag.writes is not None]
    # First those that always name a file, last those that may replace the input.
    written.sort(key=lambda entry: (not entry[1].example, entry[1].may_replace_input))
    names = ["o", *(name for name, _ in written), *(flag.name for flag in FLAGS.values() if flag.reads)]
    for name, writes in written:
        path = arguments[name]
        if path is None or (path == STDOUT and writes.takes_dash):
            continue
        if not path:
            if writes.example:
                message = f"for the --{name} option: the file name is empty"
                raise UsageError(message, f"such as {writes.example}")
            continue
        help = f"write {writes.content} to a file of {'their' if writes.is_plural else 'its'} own"
        is_checked = path != STDOUT and not writes.may_replace_input
        if is_checked and any(is_same_file(path, read) for read in inputs):
            raise UsageError(f"for the --{name} option: '{path}' is also the input", help)
        for other in names:
            other_path = arguments[other]
            if other != name and other_path is not None and is_same_file(path, other_path):
                dashes = "-" if len(other) == 1 else "--"
                message = f"for the --{name} option: '{path}' is also the file of {dashes}{other}"
                raise UsageError(message, help)
