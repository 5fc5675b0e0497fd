"""The formats of a comparison: text for a terminal, Markdown for a comment in CI, and JSON for tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from sdyopt.analysis.comparison.comparison import Comparison
from sdyopt.analysis.comparison.comparison_json import json_comparison
from sdyopt.analysis.comparison.comparison_sections import header_of, sections_of
from sdyopt.analysis.report.formats import DEFAULT_WIDTH
from sdyopt.analysis.report.markdown_report import markdown_text, section_lines
from sdyopt.analysis.report.text_report import MIN_WIDTH
from sdyopt.analysis.report.text_report import section_lines as text_section_lines
from sdyopt.base.diagnostics.usage import UsageError


def text_comparison(found: Comparison, width: int = DEFAULT_WIDTH, rows: int | None = None) -> str:
    """The comparison as text of at most `width` columns; `rows` limits every table, None shows all."""
    lines = text_section_lines(header_of(found), sections_of(found), max(width, MIN_WIDTH), rows)
    return "".join(line.rstrip() + "\n" for line in lines)


def markdown_comparison(found: Comparison) -> str:
    """The comparison as GitHub-flavoured Markdown."""
    header = [f"{markdown_text(line)}  " for line in header_of(found)]
    return "\n".join([*header, "", *section_lines(sections_of(found))]) + "\n"


_WRITERS: dict[str, Callable[[Comparison], str]] = {
    ".json": json_comparison,
    ".md": markdown_comparison,
    ".txt": text_comparison,
}


def check_comparison_format(path: str) -> None:
    """Raises UsageError unless a format of comparisons has the suffix of this path."""
    if PurePath(path).suffix not in _WRITERS:
        help = f"choose from {', '.join(_WRITERS)}"
        raise UsageError(f"'{path}' has the suffix of no comparison format", help)


def comparison_text(found: Comparison, path: str) -> str:
    """The text of a comparison file, in the format of its suffix."""
    text = _WRITERS[PurePath(path).suffix](found)
    # Names of files in locations may be any bytes; readers of these formats require UTF-8.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
