"""Colours for diagnostics on a terminal. Imported only when they are wanted: rich takes its time."""

from __future__ import annotations

from rich.color import ColorSystem
from rich.style import Style

# What each role of a piece of text looks like; the colours are those of LLVM's tools.
STYLES = {
    "place": Style(bold=True),
    "message": Style(bold=True),
    "caret": Style(bold=True, color="green"),
    "error": Style(bold=True, color="red"),
    "warning": Style(bold=True, color="magenta"),
    "remark": Style(bold=True, color="blue"),
    "note": Style(bold=True, color="cyan"),
}


def paint(text: str, role: str) -> str:
    """The text with the escape codes for its role around it."""
    return STYLES[role].render(text, color_system=ColorSystem.STANDARD)
