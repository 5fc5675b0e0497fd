"""Writes docs/passes.md, the manuals of all passes and pipelines: `make docs`."""

from __future__ import annotations

import re
from pathlib import Path

from docs.markdown import Entry, manual
from sdyopt.mlir.registry import PipelineEntry, all_passes
from sdyopt.tools.cli.help import passes_markdown

PAGE = Path(__file__).with_name("passes.md")
HEAD = """\
<!-- written by `make docs` from the docstrings of the passes -->

# Passes

The manuals that `sdy-opt --help-pass NAME` prints. A flag may start with one or two dashes. Options follow as
`-NAME=a=1` or `-NAME='a=1 b=2'`, and in the text of a pipeline as `NAME{a=1 b=2}`.
"""


def page() -> str:
    """The text of the page."""
    entries = all_passes()
    # A heading's anchor is its text without punctuation but dashes.
    table = re.sub(r"^\| `(-[\w-]+)` \|", r"| [`\1`](#\1) |", passes_markdown(), flags=re.MULTILINE)
    sections = [f"## -{entry.flag}\n\n{manual(entry)}\n\n{_anchor(entry)}" for entry in entries]
    return "\n".join([HEAD, table, "", "\n\n".join(sections)]) + "\n"


def _anchor(entry: Entry) -> str:
    if isinstance(entry, PipelineEntry):
        return "A pipeline."
    anchor = entry.pass_class.anchor
    return f"Runs on `{anchor}`." if anchor else "Runs on any operation."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
