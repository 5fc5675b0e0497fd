"""Finds the configuration file of `--lint`."""

from __future__ import annotations

from pathlib import Path

from sdyopt.analysis.flag import STDIN
from sdyopt.base.diagnostics.text import from_native, native_path
from sdyopt.base.diagnostics.whole_files import read_regular_file

FILE, PYPROJECT, TABLE = "sdy-lint.toml", "pyproject.toml", b"[tool.sdy-lint"
# A larger pyproject.toml is none.
_MAX_BYTES = 2**24


def find_config(input: str) -> str | None:
    """The configuration file in the folder of an input, or in the nearest parent folder that has one.

    None if there is none. A `pyproject.toml` counts if it is a regular file with the table of the tool.
    """
    folder = (Path() if input == STDIN else native_path(input).parent).resolve()
    for each in (folder, *folder.parents):
        if (each / FILE).is_file():
            return _relative(each / FILE)
        if _has_table(each / PYPROJECT):
            return _relative(each / PYPROJECT)
    return None


def _has_table(path: Path) -> bool:
    try:
        return TABLE in (read_regular_file(path, _MAX_BYTES) or b"")
    except OSError:
        return False


def _relative(path: Path) -> str:
    """A path as people write it: relative if it is below the current folder."""
    current = Path.cwd().resolve()
    return from_native(str(path.relative_to(current) if path.is_relative_to(current) else path))
