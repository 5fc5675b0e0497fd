"""A module as HTML, for notebooks: its meshes and its text, with the axes of shardings in colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdyopt.api.html import coloured, html_fragment
from sdyopt.api.shardings import Mesh

# A notebook stores its output, so only the start of a large program, and of a long line, is shown.
MAX_LINES = 400
MAX_LINE = 2000


def module_html(text: str, meshes: Iterable[Mesh]) -> str:
    """The HTML of a program with these meshes."""
    return html_fragment(_parts(text, list(meshes)))


def _parts(text: str, meshes: Sequence[Mesh]) -> Iterator[str]:
    axes = list(dict.fromkeys(axis.name for mesh in meshes for axis in mesh.axes))
    for mesh in meshes:
        count = "1 device" if mesh.size == 1 else f"{mesh.size} devices"
        yield f"<p>{coloured(f'@{mesh.name}: {mesh}, {count}', axes)}</p>"
    lines = text.rstrip("\n").split("\n")
    shown = [line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} …" for line in lines[:MAX_LINES]]
    yield f"<pre>{chr(10).join([coloured(line, axes) for line in shown])}</pre>"
    if len(lines) > MAX_LINES:
        yield f"<p>… and {len(lines) - MAX_LINES:,} more lines, which <code>print</code> shows</p>"
