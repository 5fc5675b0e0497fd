"""What the HTML of modules and shardings shares: the style, and axis names in colour.

Each axis name has both a background and a text colour, so it is legible on light and dark pages; everything
else has the colours of the page. So there is no need to detect the theme, which is different in every
notebook.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

# (background, text) of axes by position in the mesh, repeated if there are more axes.
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


def html_fragment(parts: Iterable[str]) -> str:
    """The parts as one element of a page, with the style that they need."""
    return "\n".join([f'<div class="sdyopt"><style>{"".join(_RULES)}</style>', *parts, "</div>"])


def coloured(text: str, axes: Sequence[str]) -> str:
    """A text as HTML, in which the names of mesh axes are coloured by their position in `axes`."""
    positions = {escape(printable(axis)): number % len(_COLOURS) for number, axis in enumerate(axes)}

    def colour(match: re.Match[str]) -> str:
        number = positions.get(match["name"])
        return match[0] if number is None else f'<b class="a{number}">{match[0]}</b>'

    return _AXIS.sub(colour, escape(printable(text)))


def printable(text: str) -> str:
    """The text with U+FFFD in place of unprintable characters, such as control characters in names."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
