"""Draws the report in the README, for light and dark pages: `make docs`, at the root of the checkout."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).with_name("images")
PROGRAM = "examples/transformer_train.mlir"
COLUMNS = 102

_ANSI = [(110, 119, 129)] * 8
_THEMES = {
    "light": TerminalTheme((246, 248, 250), (36, 41, 47), _ANSI),
    "dark": TerminalTheme((22, 27, 34), (201, 209, 217), _ANSI),
}
# Without the fonts that rich loads from a network, and without the frame of a window.
_SVG = """\
<svg viewBox="0 0 {terminal_width} {terminal_height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
{styles}
</style>
<rect width="100%" height="100%" rx="8" fill="BACKGROUND"/>
<defs>{lines}</defs>
<g class="{unique_id}-matrix">{backgrounds}{matrix}</g>
</svg>
"""


def images() -> dict[str, str]:
    """The text of each image, by its name in the folder."""
    command = [sys.executable, "-m", "sdyopt", PROGRAM, "--report"]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout
    return {f"report-{name}.svg": _image(text, theme) for name, theme in _THEMES.items()}


def _image(text: str, theme: TerminalTheme) -> str:
    console = Console(width=COLUMNS, record=True, file=StringIO())
    for line in ["", *text.splitlines(), ""]:
        # The headings of sections are bold, and notes dim.
        style = "dim" if line.startswith(" " * 8) else "" if line.startswith(" ") else "bold"
        console.print(Text(" " + line, style=style), highlight=False)
    background = theme.background_color.hex
    return console.export_svg(theme=theme, code_format=_SVG.replace("BACKGROUND", background), unique_id="r")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, image in images().items():
        (FOLDER / name).write_text(image, encoding="utf-8")
