"""`--diagnostics-format` and `--diagnostics-output`: the diagnostics of a run, for tools.

Imported on use. Without a file, the text of the format replaces that of the diagnostics on stderr; with a file,
both are written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from sdyopt import __version__
from sdyopt.cli.files import Output
from sdyopt.cli.flags import FLAGS
from sdyopt.diagnostics.diagnostic import Diagnostic
from sdyopt.diagnostics.formats import FORMATS, RunSummary
from sdyopt.diagnostics.records import Record, record
from sdyopt.diagnostics.render import render
from sdyopt.diagnostics.source import Source

PREFIX = "diagnostics-"
FORMAT, OUTPUT = "diagnostics-format", "diagnostics-output"
TEXT = "text"
# The format of a file, unless --diagnostics-format names one.
_BY_SUFFIX = {".json": "json", ".sarif": "sarif"}
# The root of the repository in GitHub Actions.
ROOT_VARIABLE = "GITHUB_WORKSPACE"


class DiagnosticsOutput:
    """Collects the diagnostics of a run, and writes them at its end."""

    def __init__(self, argv: Sequence[str]) -> None:
        """Reads the two flags; `argv` may contain any errors. Raises FileProblem for an unwritable file."""
        flags = dict(_flags(argv))
        path = flags.get(OUTPUT, "")
        suffix = os.path.splitext(path)[1]  # noqa: PTH122
        self._format = flags.get(FORMAT, _BY_SUFFIX.get(suffix, TEXT))
        self._records: list[Record] = []
        self._text: list[str] = []
        self.input = ""
        # With two files or an unknown format, `read_arguments` reports a usage error.
        is_valid = self._format in FLAGS[FORMAT].choices
        self._output = Output(path) if path and is_valid else None
        self.shows_text = self._output is not None or self._format == TEXT or not is_valid
        self._is_needed = is_valid and (self._format != TEXT or self._output is not None)

    def add(self, diagnostic: Diagnostic, source: Source | None = None, is_promoted: bool = False) -> None:
        """Adds a diagnostic. `source` is the input."""
        if self._format == TEXT:
            self._text.append(render(diagnostic, source))
        else:
            self._records.append(record(diagnostic, source, is_promoted))

    def finish(self, exit_code: int) -> None:
        """Writes the diagnostics. Raises FileProblem."""
        if not self._is_needed:
            return
        write = FORMATS.get(self._format)
        if write is None:
            text = "".join(self._text)
        else:
            root = os.environ.get(ROOT_VARIABLE, "")
            text = write(self._records, RunSummary(__version__, self.input, exit_code, root))
        if self._output is None:
            sys.stderr.write(text)
        else:
            self._output.write(text)


def is_requested(argv: Sequence[str]) -> bool:
    """Whether an argument is one of the two flags."""
    return any(argument.lstrip("-").startswith(PREFIX) for argument in argv if argument.startswith("-"))
