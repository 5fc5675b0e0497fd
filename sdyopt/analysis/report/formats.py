"""The formats of a report, by the suffix of the file that it is written to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.report.json_report import json_report
from sdyopt.analysis.report.markdown_report import markdown_report
from sdyopt.analysis.report.text_report import LARGE_ROWS, text_report
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.usage import UsageError

if TYPE_CHECKING:  # imported only for pages
    from sdyopt.analysis.report.check.checker import CheckResult

# The number of columns of a text report in a file.
DEFAULT_WIDTH = 100


@dataclass(frozen=True)
class Reported:
    """The data of a report file.

    `program` prints the program, for HTML only. `check` has the changes that were tried, if there is one.
    `source_root` is the folder of the source files that HTML shows; with None they are searched for.
    """

    report: Report
    program: Callable[[], str]
    title: str
    check: CheckResult | None = None
    source_root: str | None = None

    def html(self) -> str:
        from sdyopt.analysis.report.html_report import html_report

        return html_report(self.report, self.program(), self.title, self.check, self.source_root)


def _markdown(reported: Reported) -> str:
    from sdyopt.analysis.report.check.check_text import places_table
    from sdyopt.analysis.report.check.checker import PLACES, CheckResult, places_of

    report = reported.report
    check = reported.check or CheckResult(
        report, places_of(report.collectives)[:PLACES], report.device_memory, True
    )
    return markdown_report(report, places_table(check, reported.check is not None))


_WRITERS: dict[str, Callable[[Reported], str]] = {
    ".html": Reported.html,
    ".json": lambda reported: json_report(reported.report),
    ".md": _markdown,
    ".txt": lambda reported: text_report(reported.report, DEFAULT_WIDTH, LARGE_ROWS),
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


def report_text(reported: Reported, path: str) -> str:
    """The text of a report file, by the suffix of its path."""
    text = _WRITERS[PurePath(path).suffix](reported)
    # File names in locations may contain any bytes, but readers of these formats require UTF-8.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
