"""Colors of diagnostics on a terminal. Imported on use, because importing rich is slow."""

from __future__ import annotations

from rich.color import ColorSystem
from rich.style import Style

# The style of each role; the colors are those of LLVM's tools.
STYLES = {
    "location": Style(bold=True),
    "message": Style(bold=True),
    "caret": Style(bold=True, color="green"),
    "error": Style(bold=True, color="red"),
    "warning": Style(bold=True, color="magenta"),
    "remark": Style(bold=True, color="blue"),
    "note": Style(bold=True, color="cyan"),
}


def paint(text: str, role: str) -> str:
    """The text with the escape codes of its role."""
    return STYLES[role].render(text, color_system=ColorSystem.STANDARD)
