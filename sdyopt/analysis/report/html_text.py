"""Text of HTML pages: the start of a page, and escaping.

Colours and layout of all pages are in `report.css`, which is written into each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

# Longer lines of the program are cut: a signature of 1,000 arguments is one line.
MAX_LINE = 600

# What begins a tag or an entity. Any other `<` or `>`, of which a program has many, need not be escaped.
_MARKUP = re.compile(r"&|<(?=[A-Za-z/!?])")


def page_start(title: str, css: str = "") -> Iterator[str]:
    """The head of a page, up to the start of its body. `css` is added to `report.css`."""
    common = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(printable(title))}</title>"
    yield f"<style>{common}{css}</style></head><body>"


def as_tag_text(text: str) -> str:
    """The text as HTML between tags, with as few entities as possible."""
    return _MARKUP.sub(lambda found: "&amp;" if found[0] == "&" else "&lt;", text)


def printable_lines(lines: Sequence[str]) -> list[str]:
    """Lines of a program without control characters, the long ones cut."""
    return [printable(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} …") for line in lines]


def printable(text: str) -> str:
    """The text with a replacement for each character that is not printable."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
