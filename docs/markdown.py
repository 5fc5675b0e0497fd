"""Converts manuals to Markdown."""

from __future__ import annotations

from itertools import groupby

from sdyopt.mlir.pipeline.base import Option
from sdyopt.mlir.registry import PassEntry, PipelineEntry
from sdyopt.tools.cli.help import purpose

Entry = PassEntry | PipelineEntry

# The indentation of code, deeper than that of the continuation lines of list items.
_INDENT = "    "


def manual(entry: Entry) -> str:
    """The manual and the options of a pass or pipeline, without a title."""
    summary, rest = purpose(entry), entry.manual.partition("\n")[2]
    return "\n\n".join(
        filter(None, (summary[:1].upper() + summary[1:] + ".", prose(rest.strip("\n")), _options(entry)))
    )


def _options(entry: Entry) -> str:
    if not entry.options():
        return ""
    rows = [f"| `{option.flag}` | {_default(option)} | {option.help} |" for option in entry.options()]
    return "\n".join(["| option | default | effect |", "|---|---|---|", *rows])


def _default(option: Option) -> str:
    text = option.write(option.default).partition("=")[2]
    return f"`{text}`" if text else ""


def prose(text: str) -> str:
    """Converts the text of a docstring; lines indented by four spaces or more become code blocks."""
    return "\n\n".join([_fence_programs(block.split("\n")) for block in text.split("\n\n")])


def _fence_programs(lines: list[str]) -> str:
    """Converts the lines of a paragraph."""
    parts = [
        ["```mlir", *[line.removeprefix(_INDENT) for line in group], "```"] if is_program else list(group)
        for is_program, group in groupby(lines, key=lambda line: line.startswith(_INDENT))
    ]
    return "\n\n".join(["\n".join(part) for part in parts])
