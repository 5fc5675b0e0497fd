"""HTML of modules and shardings for notebooks: the style, axis names in colour, the devices of each shard.

Each axis name has both a background and a text colour, so it is legible on light and dark pages;
everything else has the colours of the page. So there is no need to detect the theme, which is different in
every notebook.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def printable_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(printable, text.split("\n")))


# Grids with more rows or columns are not drawn; of the devices of a shard, at most this many are listed.
MAX_ROWS, MAX_COLUMNS, MAX_DEVICES = 32, 32, 8

# The devices of each shard, by the index of the shard in every dimension.
Devices = Mapping[tuple[int, ...], Sequence[int]]


def sharding_html(text: str, dimensions: Sequence[str], devices: Devices, axes: Sequence[str]) -> str:
    """The HTML of a sharding: its text, and a grid of the devices of each shard.

    `dimensions` are the texts of the dimension shardings, `axes` the names of the mesh axes. The first
    sharded dimension is vertical and the second horizontal; with more than two, there is no grid.
    """
    return html_fragment(_sharding_parts(text, dimensions, devices, axes))


def _sharding_parts(
    text: str, dimensions: Sequence[str], devices: Devices, axes: Sequence[str]
) -> Iterator[str]:
    yield f"<p>{coloured(text, axes)}</p>"
    counts = [1 + max([shard[dim] for shard in devices], default=0) for dim in range(len(dimensions))]
    sharded = [dim for dim, count in enumerate(counts) if count > 1]
    if not devices or len(sharded) > 2:
        return
    # If only dimension 1 is sharded, it is horizontal: shards of a matrix are side by side.
    row, column = (None, 1) if sharded == [1] else [*sharded, None, None][:2]
    rows = 1 if row is None else counts[row]
    columns = 1 if column is None else counts[column]
    if rows > MAX_ROWS or columns > MAX_COLUMNS:
        return
    cells = {(_at(shard, row), _at(shard, column)): found for shard, found in devices.items()}
    yield "<table><caption>devices of each shard</caption>"
    if column is not None:
        corner = "" if row is None else "<th></th>"
        yield f'<tr>{corner}<th colspan="{columns}">{_heading(column, dimensions, axes)}</th></tr>'
    for number in range(rows):
        heading = ""
        if row is not None and not number:
            heading = f'<th rowspan="{rows}">{_heading(row, dimensions, axes)}</th>'
        found = [f"<td>{_devices_text(cells[number, at])}</td>" for at in range(columns)]
        yield f"<tr>{heading}{''.join(found)}</tr>"
    yield "</table>"


def _at(shard: tuple[int, ...], dim: int | None) -> int:
    return 0 if dim is None else shard[dim]


def _heading(dim: int, dimensions: Sequence[str], axes: Sequence[str]) -> str:
    return f"dimension {dim} {coloured(dimensions[dim], axes)}"


def _devices_text(devices: Sequence[int]) -> str:
    more = "" if len(devices) <= MAX_DEVICES else f" and {len(devices) - MAX_DEVICES} more"
    return " ".join(map(str, devices[:MAX_DEVICES])) + more
