"""The source files that a page shows: those of the program's locations, as far as they are found.

A program may name any file. A page may be sent to others, so it has Python files only, and only those below
a folder: the one of `--source-root`, or else the current one and that of the input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from sdyopt.base.diagnostics.text import real_path
from sdyopt.base.diagnostics.whole_files import read_regular_file

SUFFIX = ".py"
# A page has at most so many files, of at most so many bytes each.
_MAX_FILES, _MAX_BYTES = 30, 500_000


def source_files(names: Iterable[str], input_name: str, root: str | None) -> dict[str, str]:
    """The texts of the files that are found, by their names. With an empty root, there are none."""
    if root == "":
        return {}
    roots = [Path(root)] if root is not None else [Path(), Path(input_name).parent]
    texts: dict[str, str] = {}
    for name in dict.fromkeys(names):
        text = _text(name, roots, is_given=root is not None) if name.endswith(SUFFIX) else None
        if text is not None and len(texts) < _MAX_FILES:
            texts[name] = text
    return texts


def _text(name: str, roots: list[Path], is_given: bool) -> str | None:
    try:
        for root in roots:
            top = real_path(root)
            for path in _candidates(name, top, is_given):
                # Links may lead out of the folder.
                real = real_path(path)
                if real.is_relative_to(top) and real.suffix == SUFFIX and real.is_file():
                    data = read_regular_file(real, _MAX_BYTES)
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
