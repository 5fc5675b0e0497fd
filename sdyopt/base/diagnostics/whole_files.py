"""Files that are written whole or not at all, and files that are read up to a limit.

    with suppress(OSError):
        replace_file(Path("report.txt"), "384 KiB\\n")

The text goes to a temporary file in the folder of the target, which then gets the name of the target. On
Linux, it has no name until then, so that nothing is left of it if the process is killed. Elsewhere, and where
the file system has no such files, its name is random, and must not exist: nobody who can write to the folder
can plant a link there.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import RawIOBase
from pathlib import Path, PurePath
from typing import BinaryIO

from sdyopt.base.diagnostics.text import real_path

# Pipes and devices may have no end.
_MOST_OF_STREAM = 1 << 30
# Limits, settings, an earlier report, a snapshot, HLO.
MOST_OF_OPTION_FILE = 1 << 28
_PART = 1 << 20

# The flags of a file that is new, and no link. Windows has fewer of them.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
# Those of a file without a name, which only Linux can give one later.
_UNNAMED = os.O_WRONLY | os.O_TMPFILE if sys.platform == "linux" else None
# Should the file have become a pipe, opening it does not wait for a writer.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Replacement:
    """A temporary file that becomes the target when it is complete. All methods raise OSError.

    If the target is a link, the file that it names is replaced. A target that is no regular file, such as a
    pipe or a device, cannot be replaced, and is written directly.
    """

    def __init__(self, path: Path) -> None:
        self._target = path
        self._draft: Path | None = None
        self._descriptor: int | None = None
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            return
        self._target = real_path(path)
        self._descriptor = self._unnamed_file()
        if self._descriptor is None:
            draft = self._draft_path()
            self._descriptor = os.open(draft, _NEW, 0o666)
            self._draft = draft
        if mode is not None:
            file = self._descriptor if self._draft is None or os.chmod in os.supports_fd else self._draft
            try:
                os.chmod(file, mode & 0o777)  # noqa: PTH101
            except OSError:
                self.discard()
                raise

    def write(self, pages: Iterable[str | bytes]) -> None:
        """Writes the complete text, or nothing: after an error the target is as before."""
        try:
            is_unnamed = self._descriptor is not None and self._draft is None
            with self._open() as file:
                self._descriptor = None
                for page in pages:
                    file.write(page if isinstance(page, bytes) else encode(page))
                if is_unnamed:
                    file.flush()
                    self._name(file.fileno())
            if self._draft is not None:
                self._draft.replace(self._target)
                self._draft = None
        finally:
            self.discard()

    def discard(self) -> None:
        """Removes the temporary file, if there is still one."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._draft is not None:
            with suppress(OSError):
                self._draft.unlink()
            self._draft = None

    def _draft_path(self) -> Path:
        """A random name, whose length does not depend on that of the target, which may be the longest one."""
        return self._target.with_name(f".sdyopt-{os.urandom(8).hex()}.tmp")

    def _name(self, descriptor: int) -> None:
        """Gives a file without a name that of the target, or if this exists, first a temporary one."""
        try:
            _link(descriptor, self._target)
        except FileExistsError:
            draft = self._draft_path()
            _link(descriptor, draft)
            self._draft = draft

    def _open(self) -> BinaryIO:
        return self._target.open("wb") if self._descriptor is None else os.fdopen(self._descriptor, "wb")

    def _unnamed_file(self) -> int | None:
        """The descriptor of a new file without a name; None if the system or the file system has none."""
        if _UNNAMED is None or not os.path.isdir(_DESCRIPTORS):  # noqa: PTH112
            return None
        with suppress(OSError):
            return os.open(self._target.parent, _UNNAMED, 0o666)
        return None


_DESCRIPTORS = "/proc/self/fd"


def _link(descriptor: int, path: Path) -> None:
    """Gives a file without a name one that does not exist."""
    # Python follows the link in /proc only with a descriptor of a folder; any will do for an absolute path.
    os.link(f"{_DESCRIPTORS}/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)


def replace_file(path: Path, text: str | bytes) -> None:
    """Writes a file whole or not at all. Raises OSError, which names the file."""
    try:
        Replacement(path).write((text,))
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from None


def replace_cached_file(path: Path, text: str | bytes) -> None:
    """As `replace_file`, for a file that no user named: one that is not regular is removed first."""
    if not path.is_file():
        # A pipe would wait for a reader.
        path.unlink(missing_ok=True)
    replace_file(path, text)


def read_file(path: Path, limit: int | None = None) -> bytes:
    """The bytes of a file. Raises OSError, also if it has more than `limit` bytes.

    Without a limit, if it is a pipe or a device and has more than 1 GiB.
    """
    with path.open("rb", buffering=0) as file:
        return read_stream(file, limit)


def read_stream(file: RawIOBase | BinaryIO, limit: int | None = None) -> bytes:
    """The remaining bytes of an open file, as in `read_file`."""
    if limit is None:
        try:
            is_bounded = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        except io.UnsupportedOperation:
            # It is in memory already.
            is_bounded = True
        if is_bounded:
            return file.read() or b""
        limit = _MOST_OF_STREAM
    parts, size = [], 0
    while part := file.read(_PART):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise OSError(errno.EFBIG, f"it has more than {limit >> 20} MiB", getattr(file, "name", None))
    return b"".join(parts)


def read_settings_file(path: Path) -> str:
    """The text of a small file, such as limits or settings. Raises OSError, as `read_file` does."""
    return read_file(path, MOST_OF_OPTION_FILE).decode("utf-8", "surrogateescape")


def read_regular_file(path: Path, limit: int) -> bytes | None:
    """The bytes of a file that no user named, so it may be anything; None if it is not a regular file.

    None as well if it has more than `limit` bytes. Raises OSError.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        return None
    with os.fdopen(os.open(path, _READ), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        data = file.read(limit + 1)
    return data if len(data) <= limit else None


def user_cache() -> Path | None:
    """The folder of what is kept between runs; None if there is none that only the user can write to."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    if not os.path.isabs(home):  # noqa: PTH117
        # There is no home directory, or the path is relative, which XDG requires programs to ignore.
        return None
    folder = Path(home, "sdyopt")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.lstat()
    except (OSError, RuntimeError):
        return None
    is_own = hasattr(os, "getuid") and state.st_uid == os.getuid()
    is_private = stat.S_ISDIR(state.st_mode) and not state.st_mode & 0o022
    return folder if is_own and is_private else None


def encode(text: str) -> bytes:
    """The text as UTF-8; surrogate escapes become the bytes that were not UTF-8 in the input."""
    return text.encode("utf-8", "surrogateescape")


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


# --- Source files ---------------------------------------------------------------------------------

_SUFFIX = ".py"
# A page has at most so many files, of at most so many bytes each.
_MOST_FILES, _MOST_BYTES = 30, 500_000


def source_files(names: Iterable[str], input_name: str, root: str | None) -> dict[str, str]:
    """The texts of the files that are found, by their names. With an empty root, there are none.

    A program may name any source file. A page may be sent to others, so it has Python files only, and only
    those below a folder: `root`, or else the current one and that of the input.
    """
    if root == "":
        return {}
    roots = [Path(root)] if root is not None else [Path(), Path(input_name).parent]
    texts: dict[str, str] = {}
    for name in dict.fromkeys(names):
        text = _text_of(name, roots, is_given=root is not None) if name.endswith(_SUFFIX) else None
        if text is not None and len(texts) < _MOST_FILES:
            texts[name] = text
    return texts


def _text_of(name: str, roots: list[Path], is_given: bool) -> str | None:
    try:
        for root in roots:
            top = real_path(root)
            for path in _candidates(name, top, is_given):
                # Links may lead out of the folder.
                real = real_path(path)
                if real.is_relative_to(top) and real.suffix == _SUFFIX and real.is_file():
                    data = read_regular_file(real, _MOST_BYTES)
                    return None if data is None else data.decode("utf-8", "replace")
    except (OSError, ValueError):
        # A name that no file can have, or a file that may not be read.
        return None
    return None


def _candidates(name: str, top: Path, is_given: bool) -> Iterator[Path]:
    """The possible places of a file: its name, and the end of its name in a folder that is given."""
    yield top / name
    parts = PurePath(name).parts
    if is_given:
        yield from (top.joinpath(*parts[start:]) for start in range(1, len(parts)))
