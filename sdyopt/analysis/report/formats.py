"""The formats of a report, by the suffix of the file that it is written to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    check_suffix(path, _WRITERS, "report")


def check_suffix(path: str, formats: Iterable[str], what: str) -> None:
    """Raises UsageError unless the suffix of a path is that of one of the formats."""
    suffixes = list(formats)
    if PurePath(path).suffix not in suffixes:
        help = f"choose from {', '.join(suffixes)}"
        raise UsageError(f"'{path}' has the suffix of no {what} format", help)


def report_text(report: Report, path: str, program: Callable[[], str], title: str) -> str:
    """The text of a report file, by the suffix of its path. `program` prints the program, for HTML only."""
    text = _WRITERS[PurePath(path).suffix](report, program, title)
    # File names in locations may contain any bytes, but readers of these formats require UTF-8.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
