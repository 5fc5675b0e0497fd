"""Common mistakes, and the errors that sdy-opt prints for them on a terminal of 100 columns.

Each file in `programs/` starts with a sentence and a command; the `.txt` file beside it is the output, which
`python -m tests.unit.mistakes` writes.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from sdyopt.mlir.registry import table
from sdyopt.tools.cli import main

FOLDER = Path(__file__).parent / "programs"
# A folder with an installed plugin.
PLUGIN = Path(__file__).parent / "plugin"
ROOT = Path(__file__).parents[3]
COLUMNS = 100


@dataclass(frozen=True)
class Mistake:
    """A file with a mistake: what it is, and the command that shows it."""

    path: Path
    what: str
    command: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def golden(self) -> Path:
        """The file with the expected output."""
        return self.path.with_suffix(".txt")

    @property
    def program(self) -> str:
        """The program, without the sentence and the command."""
        return self.path.read_text(encoding="utf-8").split("\n\n", 1)[1]


def mistakes() -> list[Mistake]:
    """All mistakes in the order of their numbers."""
    return [_read(path) for path in sorted(FOLDER.glob("[0-9]*.mlir"))]


def _read(path: Path) -> Mistake:
    what, command, *_ = path.read_text(encoding="utf-8").splitlines()
    command = command.removeprefix("// RUN: ").replace("%s", path.name)
    return Mistake(path, what.removeprefix("// "), command)


def output_of(mistake: Mistake) -> tuple[int, str]:
    """The exit status and the text on stderr, with the paths of this checkout shortened."""
    _, *argv = shlex.split(mistake.command)
    with _terminal(), _plugin(), chdir(FOLDER), redirect_stdout(_text()), redirect_stderr(_text()) as stderr:
        status = main(argv)
    stderr.flush()
    text = stderr.buffer.getvalue().decode()
    return status, text.replace(f"{PLUGIN}/", "site-packages/").replace(f"{FOLDER}/", "")


def rows(text: str, columns: int = COLUMNS) -> int:
    """The rows that a text takes on a terminal."""
    return sum(max(1, -(-len(line) // columns)) for line in text.splitlines())


@contextmanager
def _terminal() -> Iterator[None]:
    """A terminal of COLUMNS columns."""
    with mock.patch.object(os, "get_terminal_size", return_value=os.terminal_size((COLUMNS, 40))):
        yield


@contextmanager
def _plugin() -> Iterator[None]:
    """Makes the plugin importable beside the passes of the checkout; unregisters its passes afterwards."""
    with mock.patch.object(sys, "path", [str(PLUGIN), str(ROOT), *sys.path]):
        yield
    # So that importing it registers them again.
    sys.modules.pop("broken_passes", None)
    for flag in [flag for flag, entry in table.entries.items() if entry.module == "broken_passes"]:
        del table.entries[flag]


def _text() -> io.TextIOWrapper[io.BytesIO]:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
