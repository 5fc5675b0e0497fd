"""Substitutions in RUN lines: %s, %S, %t and those that a project declares."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from sdyopt.tools.lit.malformed import MalformedCaseError

# Not SSA names such as `%0` and `%arg0`, nor patterns such as `%{{.*}}`.
SUBSTITUTION = re.compile(
    r"%(?: [A-Za-z](?!\w) | % | basename_t\b | [/:][A-Za-z]\b | (?:if|else)\b | \((?=line) | \{(?!\{) )",
    re.VERBOSE,
)


class Substitutions:
    """The substitutions of a test with this path, and an unused path for its temporary files."""

    def __init__(self, source: Path, temporary: Path, declared: Mapping[str, str] | None = None) -> None:
        folder = str(source.parent)
        self._paths = {
            "%s": str(source),
            "%S": folder,
            "%p": folder,
            "%t": str(temporary),
            "%T": str(temporary.parent),
            "%basename_t": source.name,
            "%%": "%",
        }
        self._declared = dict(declared or {})

    def expand(self, command: str) -> str:
        """Replaces the declared substitutions, longest name first. A replacement may be several words."""
        for name in sorted(self._declared, key=len, reverse=True):
            command = re.sub(re.escape(name) + r"(?!\w)", self._declared[name].replace("\\", r"\\"), command)
        return command

    def replace(self, word: str) -> str:
        """Replaces the predefined substitutions in a word, which stays one word even if a path has spaces.

        Raises MalformedCaseError for an unknown substitution.
        """
        return SUBSTITUTION.sub(self._path, word)

    def _path(self, match: re.Match[str]) -> str:
        if (text := self._paths.get(match[0])) is None:
            raise MalformedCaseError(
                f"unknown substitution {match[0]!r}; known are {', '.join([*self._paths, *self._declared])}",
                "declare others with the hook pytest_sdyopt_lit_substitutions in conftest.py",
            )
        return text


def temporary_path(folder: Path, source: Path) -> Path:
    """The path for temporary files of a test: under a folder, with the path of the test."""
    parts = [part for part in source.parts if part not in (os.pardir, source.anchor)]
    return folder.joinpath(*parts[:-1], source.name + ".tmp")
