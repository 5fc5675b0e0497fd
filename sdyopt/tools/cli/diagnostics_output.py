"""`--diagnostics-format` and `--diagnostics-output`: the diagnostics of a run, for tools.

Imported on use. Without a file, the format replaces the text on stderr; with a file, both are written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from sdyopt import __version__
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.base.diagnostics.diagnostic import Diagnostic
from sdyopt.base.diagnostics.formats import FORMATS, Record, RunSummary, record
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import render
from sdyopt.tools.cli.files import Output, is_same_file, write_to_stderr
from sdyopt.tools.cli.flags import FLAGS

FORMAT, OUTPUT = "diagnostics-format", "diagnostics-output"
TEXT = "text"

# The format of a file, unless --diagnostics-format names one.
_BY_SUFFIX = {".json": "json", ".sarif": "sarif"}

# The environment variable with the root of the repository, set by GitHub Actions.
ROOT_VARIABLE = "GITHUB_WORKSPACE"


class DiagnosticsOutput:
    """Collects the diagnostics of a run, and writes them at its end."""

    def __init__(self, argv: Sequence[str]) -> None:
        """Reads the two flags; usage errors in `argv` are left to the command. Raises FileProblem."""
        flags = dict(_flags(argv))
        path = self._path = flags.get(OUTPUT, "")
        self._format = flags.get(FORMAT, _BY_SUFFIX.get(PurePath(path).suffix, TEXT))
        self._records: list[Record] = []
        self._text: list[str] = []
        self.input_name = ""  # set by the command
        # The command reports these usage errors: an unknown format, and a file that has another use.
        is_valid = self._format in FLAGS[FORMAT].choices and not _is_used_twice(path, argv)
        self._output = Output(path, makes_folder=True) if path and is_valid else None
        self.shows_text = self._output is not None or self._format == TEXT or not is_valid
        self._is_needed = is_valid and (self._format != TEXT or self._output is not None)

    def add(self, diagnostic: Diagnostic, source: Source | None = None, is_promoted: bool = False) -> None:
        """Adds a diagnostic of the input `source`; `is_promoted`: a warning that --werror makes an error."""
        if self._format == TEXT:
            self._text.append(render(diagnostic, source))
        else:
            self._records.append(record(diagnostic, source, is_promoted))

    def protect(self, paths: Sequence[str]) -> None:
        """Gives up the file if it is one of these paths, which the command reports as a usage error."""
        if self._output is not None and any(is_same_file(self._path, path) for path in paths):
            self._output.discard()
            self._is_needed = False

    def finish(self, exit_code: int) -> None:
        """Writes the diagnostics. Raises FileProblem."""
        if not self._is_needed:
            return
        write = FORMATS.get(self._format)
        if write is None:
            text = "".join(self._text)
        else:
            root = os.environ.get(ROOT_VARIABLE, "")
            text = write(self._records, RunSummary(__version__, self.input_name, exit_code, root))
        if self._output is None:
            write_to_stderr(text)
        else:
            self._output.write(text)


def _is_used_twice(path: str, argv: Sequence[str]) -> bool:
    """Whether another argument names the same file, which then must not be overwritten."""
    if not path or path == STDOUT:
        return False
    values = [argument.partition("=")[2] if argument.startswith("-") else argument for argument in argv]
    return sum(is_same_file(path, value) for value in values if value) > 1


def _flags(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The two flags and their values, wherever they are. Other arguments are not checked."""
    for argument, following in zip(argv, [*argv[1:], ""], strict=True):
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name in (FORMAT, OUTPUT):
            yield name, value if equals else following
