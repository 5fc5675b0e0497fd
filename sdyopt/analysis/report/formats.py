"""The formats of a report, by the suffix of the file that it is written to, and Markdown.

Markdown is for a pull-request comment or the summary of a CI job: a summary, and details that are folded
until they are opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.interface.pages.section import ReportTable, Section
from sdyopt.analysis.report.json_report import json_report
from sdyopt.analysis.report.sections import ACCURACY, sections_of
from sdyopt.analysis.report.text_report import LARGE_ROWS, text_report
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.text import replace_unprintable
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


# The maximum number of rows of each table: a comment has a limited length.
ROWS = 20

# GitHub would notify the user whose name follows an "@", even after a backslash.
_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#"} | {"@": "@<!-- -->"})


def markdown_report(report: Report, places: ReportTable | None = None) -> str:
    """The report as GitHub-flavoured Markdown, with the places where devices send most in the summary."""
    return "\n".join(_lines(report, places)) + "\n"


def _lines(report: Report, places: ReportTable | None) -> Iterator[str]:
    if report.mesh:
        yield f"{report.devices} devices, mesh {markdown_text(report.mesh)}"
        yield ""
    if report.assumption:
        yield markdown_text(report.assumption)
        yield ""
    yield from folded_lines(sections_of(report), places)


def folded_lines(sections: Sequence[Section], first: ReportTable | None = None) -> Iterator[str]:
    """A table of what each section is about, `first`, and the sections with their details folded."""
    accuracies = ACCURACY.values()
    figures = [
        section for section in sections if ": " in section.heading and section.heading not in accuracies
    ]
    if figures:
        yield "| | |"
        yield "|---|---|"
        for section in figures:
            name, _, text = section.heading.partition(": ")
            verdict = f"; {section.verdict}" if section.verdict else ""
            yield f"| **{markdown_text(name)}** | {markdown_text(text + verdict)} |"
        yield ""
    if first is not None:
        yield from _table(first)
        yield ""
    for section in sections:
        if section.sentences or section.tables:
            yield f"<details><summary>{_summary(section.heading)}</summary>"
            yield ""
            yield from _details(section)
            yield "</details>"
            yield ""
        elif section not in figures:
            yield markdown_text(section.heading)
            yield ""


def _summary(text: str) -> str:
    """A text as HTML, in which nothing is Markdown."""
    return escape(replace_unprintable(text)).replace("@", "@<!-- -->")


def section_lines(sections: Sequence[Section]) -> Iterator[str]:
    """Sections as Markdown."""
    for section in sections:
        yield f"### {markdown_text(section.heading)}"
        yield ""
        yield from _details(section)


def _details(section: Section) -> Iterator[str]:
    for sentence in section.sentences:
        yield f"{markdown_text(sentence)}  "
    for table in section.tables:
        yield ""
        yield from _table(table)
    yield ""


def _table(table: ReportTable) -> Iterator[str]:
    if table.title:
        yield f"**{markdown_text(table.title)}**"
        yield ""
    yield _row(table.columns)
    yield "|" + "|".join("---:" if n < table.figures else "---" for n in range(len(table.columns))) + "|"
    for row in table.rows[:ROWS]:
        yield _row(row)
    if len(table.rows) > ROWS:
        yield ""
        yield f"… and {len(table.rows) - ROWS} more"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(markdown_text, cells)) + " |"


def markdown_text(text: str) -> str:
    """The text of a cell or line, escaped so that nothing in it is markup."""
    return replace_unprintable(text).translate(_ESCAPED)
