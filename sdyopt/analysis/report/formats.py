"""The formats of a report, by the suffix of the file that it is written to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.report.html_report import html_report
from sdyopt.analysis.report.json_report import json_report
from sdyopt.analysis.report.markdown_report import markdown_report
from sdyopt.analysis.report.text_report import text_report
from sdyopt.base.diagnostics.usage import UsageError

# The number of columns of a text report in a file.
DEFAULT_WIDTH = 100


# (report, the printed program, title) -> the text of the file
_WRITERS: dict[str, Callable[[Report, Callable[[], str], str], str]] = {
    ".html": lambda report, program, title: html_report(report, program(), title),
    ".json": lambda report, _, __: json_report(report),
    ".md": lambda report, _, __: markdown_report(report),
    ".txt": lambda report, _, __: text_report(report, DEFAULT_WIDTH, None),
}


def check_format(path: str) -> None:
    """Raises UsageError unless a format of reports has the suffix of this path."""
    suffix = PurePath(path).suffix
    if suffix not in _WRITERS:
        help = f"choose from {', '.join(_WRITERS)}"
        raise UsageError(f"'{path}' has the suffix of no report format", help)


def report_text(report: Report, path: str, program: Callable[[], str], title: str) -> str:
    """The text of a report file, by the suffix of its path. `program` prints the program, for HTML only."""
    text = _WRITERS[PurePath(path).suffix](report, program, title)
    # File names in locations may contain any bytes, but readers of these formats require UTF-8.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
