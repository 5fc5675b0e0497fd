"""What the HTML of modules and shardings shares: the style, and axis names in colour.

Axes have a background and a text colour of their own, which are legible on a light and on a dark page; all
else has the colours of the page. So no theme has to be detected, which every notebook does differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

# (background, text) of axes by position in the mesh. Further axes start from the first again.
_COLOURS = (
    ("#fed7aa", "#7c2d12"),
    ("#bfdbfe", "#1e3a8a"),
    ("#bbf7d0", "#14532d"),
    ("#f5d0fe", "#701a75"),
    ("#fecaca", "#7f1d1d"),
    ("#a5f3fc", "#164e63"),
    ("#ddd6fe", "#4c1d95"),
    ("#fef08a", "#713f12"),
)
_RULES = (
    ".sdyopt{font-size:13px;line-height:1.45}",
    ".sdyopt p{margin:4px 0}",
    ".sdyopt pre{font:12px/1.5 ui-monospace,monospace;color:inherit;background:none;margin:4px 0;padding:0;"
    "max-height:480px;overflow:auto;white-space:pre}",
    ".sdyopt table{border-collapse:collapse;margin:6px 0;font-size:inherit}",
    ".sdyopt caption{caption-side:top;text-align:left;color:inherit;padding:2px 0}",
    ".sdyopt td,.sdyopt th{border:1px solid rgba(128,128,128,.5);padding:2px 8px;text-align:left;"
    "color:inherit;background:none;font-weight:400}",
    ".sdyopt b{font-weight:600;border-radius:3px;padding:0 2px}",
    *(
        f".sdyopt b.a{number}{{background:{background};color:{text}}}"
        for number, (background, text) in enumerate(_COLOURS)
    ),
)

_AXIS = re.compile(r"(?:(?<=[{\[])|(?<=, ))&quot;(?P<name>[^&]*)&quot;(?::\(\d+\)\d+)?(?=[,=}\]])")


def page(parts: Iterable[str]) -> str:
    """A part of a page with the style of this library."""
    return "\n".join([f'<div class="sdyopt"><style>{"".join(_RULES)}</style>', *parts, "</div>"])


def coloured(text: str, axes: Sequence[str]) -> str:
    """The text as HTML, in which the axes of a mesh are coloured by their position."""
    positions = {escape(printable(axis)): number % len(_COLOURS) for number, axis in enumerate(axes)}

    def colour(match: re.Match[str]) -> str:
        number = positions.get(match["name"])
        return match[0] if number is None else f'<b class="a{number}">{match[0]}</b>'

    return _AXIS.sub(colour, escape(printable(text)))


def printable(text: str) -> str:
    """The text without control characters, which names may contain."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
