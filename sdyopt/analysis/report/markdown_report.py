"""A report as Markdown, for a pull-request comment or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.report.sections import ReportTable, Section, sections_of

# The maximum number of rows of each table: a comment has a limited length.
ROWS = 20

# GitHub would notify the user whose name follows an "@", even after a backslash.
_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#"} | {"@": "@<!-- -->"})


def markdown_report(report: Report) -> str:
    """The report as GitHub-flavoured Markdown."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    if report.mesh:
        yield f"{report.devices} devices, mesh {markdown_text(report.mesh)}"
        yield ""
    if report.assumption:
        yield markdown_text(report.assumption)
        yield ""
    yield from section_lines(sections_of(report))


def section_lines(sections: Sequence[Section]) -> Iterator[str]:
    """Sections as Markdown."""
    for section in sections:
        yield f"### {markdown_text(section.heading)}"
        yield ""
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
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text).translate(_ESCAPED)
