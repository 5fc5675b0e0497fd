"""Formats of diagnostics for tools: JSON, SARIF, and the annotations of GitHub Actions.

Imported on use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.diagnostics.formats.github import to_github
from sdyopt.diagnostics.formats.json_document import to_json
from sdyopt.diagnostics.formats.run_summary import RunSummary
from sdyopt.diagnostics.formats.sarif import to_sarif
from sdyopt.diagnostics.records import Record

__all__ = ["FORMATS", "RunSummary"]

# The text of the diagnostics of a run, by the name of the format.
FORMATS: dict[str, Callable[[Sequence[Record], RunSummary], str]] = {
    "json": to_json,
    "github": to_github,
    "sarif": to_sarif,
}
