"""HTML for notebooks: the style, figures, bars and tables, axis names in colour, the devices of each shard.

Each axis name has both a background and a text colour, so it is legible on light and dark pages;
everything else has the colours of the page. So there is no need to detect the theme, which is different in
every notebook. Nothing is loaded and no script runs, so a notebook shows the same when it is opened again.
All texts are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape

from sdyopt.analysis.interface.pages.section import Section
from sdyopt.base.diagnostics.text import replace_unprintable

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
    # Notebooks have rules of their own for cells: with three classes, these come first.
    ".sdyopt.sdyopt.sdyopt td,.sdyopt.sdyopt.sdyopt th{border:1px solid rgba(128,128,128,.5);padding:2px 8px;"
    "text-align:left;vertical-align:top;color:inherit;background:none;font-weight:400;white-space:normal}",
    ".sdyopt.sdyopt.sdyopt th{background:rgba(128,128,128,.15)}",
    ".sdyopt.sdyopt.sdyopt td.n,.sdyopt.sdyopt.sdyopt th.n{text-align:right;white-space:nowrap}",
    ".sdyopt.sdyopt.sdyopt tr.best td{font-weight:600}",
    ".sdyopt .scroll{max-width:100%;max-height:480px;overflow:auto}",
    ".sdyopt .cards{display:flex;flex-wrap:wrap;gap:8px;margin:6px 0}",
    ".sdyopt .cards div{border:1px solid rgba(128,128,128,.5);border-radius:6px;padding:6px 12px}",
    ".sdyopt .cards strong{display:block;font-size:18px;font-weight:600}",
    ".sdyopt .cards .bad strong{color:#dc2626}",
    ".sdyopt .bar{display:flex;height:14px;margin:6px 0;border-radius:3px;overflow:hidden;max-width:720px}",
    ".sdyopt .bar i{display:block;height:100%}",
    ".sdyopt .fill{display:block;height:10px;background:#3b82f6;border-radius:2px;min-width:1px}",
    ".sdyopt summary{cursor:pointer}",
    ".sdyopt i.k{display:inline-block;width:10px;height:10px;margin:0 4px 0 10px;border-radius:2px}",
    ".sdyopt b{font-weight:600;border-radius:3px;padding:0 2px}",
    *(
        f".sdyopt b.a{number}{{background:{background};color:{text}}}"
        for number, (background, text) in enumerate(_COLOURS)
    ),
)
# Adjacent segments of a bar differ in color.
_PARTS = ("#3b82f6", "#f97316", "#10b981", "#a855f7", "#eab308", "#6b7280")

# `'x'` in `P('x')`, but not in `params['x']`.
_SPEC_AXIS = re.compile(r"(?:(?<=[({])|(?<=, ))&#x27;(?P<name>[^&]*)&#x27;(?=[,)}])")
_AXIS = re.compile(r"(?:(?<=[{\[])|(?<=, ))&quot;(?P<name>[^&]*)&quot;(?::\(\d+\)\d+)?(?=[,=}\]])")


def html_fragment(parts: Iterable[str]) -> str:
    """The parts as one element of a page, with the style that they need."""
    return "\n".join([f'<div class="sdyopt"><style>{"".join(_RULES)}</style>', *parts, "</div>"])


def coloured(text: str, axes: Sequence[str]) -> str:
    """A text as HTML, in which the names of mesh axes are coloured by their position in `axes`."""
    positions = {
        escape(replace_unprintable(axis)): number % len(_COLOURS) for number, axis in enumerate(axes)
    }

    def colour(match: re.Match[str]) -> str:
        number = positions.get(match["name"])
        return match[0] if number is None else f'<b class="a{number}">{match[0]}</b>'

    return _SPEC_AXIS.sub(colour, _AXIS.sub(colour, escape(replace_unprintable(text))))


def as_html(text: str) -> str:
    """A text as HTML, in which ends of lines stay."""
    return "<br>".join([escape(replace_unprintable(line)) for line in text.split("\n")])


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    figures: int = 0,
    caption: str = "",
    best: Collection[int] = (),
) -> str:
    """A table of cells that are HTML. The first `figures` columns are numbers; rows in `best` stand out."""
    parts = ['<div class="scroll"><table>']
    if caption:
        parts.append(f"<caption>{caption}</caption>")
    if any(columns):
        parts.append(_row(columns, "th", figures))
    for number, row in enumerate(rows):
        parts.append(_row(row, "td", figures, ' class="best"' if number in best else ""))
    return "".join([*parts, "</table></div>"])


def _row(cells: Sequence[str], tag: str, figures: int, attributes: str = "") -> str:
    tables = [
        f"<{tag}{' class=n' if number < figures else ''}>{cell}</{tag}>" for number, cell in enumerate(cells)
    ]
    return f"<tr{attributes}>{''.join(tables)}</tr>"


def cards(figures: Iterable[Sequence[str]], problems: Sequence[str] = ()) -> str:
    """Headline figures: a name, the number, its unit, and what it is made of. `problems` stand out."""
    parts = [
        f"<div{' class=bad' if name in problems else ''}>{as_html(name)}"
        f"<strong>{as_html(' '.join(figure[:2]))}</strong>{as_html(' '.join(figure[2:]))}</div>"
        for name, *figure in figures
    ]
    return f'<div class="cards">{"".join(parts)}</div>'


def bar(parts: Sequence[tuple[str, float]]) -> str:
    """A bar of parts, each with its share of the whole and a legend; the smallest ones are one part."""
    shown = [*parts[: len(_PARTS) - 1]]
    if len(parts) > len(shown):
        shown.append((f"{len(parts) - len(shown)} more", sum(share for _, share in parts[len(shown) :])))
    colours = [*zip(shown, _PARTS, strict=False)]
    segments = [
        f'<i style="width:{share:.2%};background:{colour}" title="{as_html(name)}"></i>'
        for (name, share), colour in colours
    ]
    legend = [
        f'<i class="k" style="background:{colour}"></i>{share:.0%} {as_html(name)}'
        for (name, share), colour in colours
    ]
    return f'<div class="bar">{"".join(segments)}</div><p>{"".join(legend)}</p>' if shown else ""


def fill(share: float, width: int = 120) -> str:
    """A bar in a cell of a table."""
    return f'<span class="fill" style="width:{width * min(max(share, 0), 1):.0f}px"></span>'


def details(summary: str, content: str) -> str:
    """A part that is closed at first."""
    return f"<details><summary>{as_html(summary)}</summary>{content}</details>"


def frame(page: str, title: str) -> str:
    """A page with a style and a script of its own, which are kept apart from those of the notebook."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="{as_html(title)}" '
        'style="width:100%;height:640px;border:1px solid rgba(128,128,128,.5)"></iframe>'
    )


def sections(
    listed: Iterable[Section], axes: Sequence[str], rows: int, closed: Collection[str] = ()
) -> Iterator[str]:
    """Sections with at most `rows` rows of each table.

    Of the tables of a section, the first is open whose title is not in `closed`.
    """
    for section in listed:
        yield f"<p><strong>{coloured(section.heading, axes)}</strong></p>"
        yield from (f"<p>{coloured(sentence, axes)}</p>" for sentence in section.sentences)
        is_open = False
        for shown in section.tables:
            cells = [[coloured(cell, axes) for cell in row] for row in shown.rows[:rows]]
            content = table(list(map(as_html, shown.columns)), cells, shown.figures)
            if len(shown.rows) > rows:
                content += f"<p>… and {len(shown.rows) - rows:,} more</p>"
            if is_open or shown.title in closed:
                yield details(shown.title or section.heading, content)
            else:
                is_open = True
                yield content


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
    cells = {(_at(shard, row), _at(shard, column)): held for shard, held in devices.items()}
    yield "<table><caption>devices of each shard</caption>"
    if column is not None:
        corner = "" if row is None else "<th></th>"
        yield f'<tr>{corner}<th colspan="{columns}">{_heading(column, dimensions, axes)}</th></tr>'
    for number in range(rows):
        heading = ""
        if row is not None and not number:
            heading = f'<th rowspan="{rows}">{_heading(row, dimensions, axes)}</th>'
        columns_html = [f"<td>{_devices_text(cells[number, at])}</td>" for at in range(columns)]
        yield f"<tr>{heading}{''.join(columns_html)}</tr>"
    yield "</table>"


def _at(shard: tuple[int, ...], dim: int | None) -> int:
    return 0 if dim is None else shard[dim]


def _heading(dim: int, dimensions: Sequence[str], axes: Sequence[str]) -> str:
    return f"dimension {dim} {coloured(dimensions[dim], axes)}"


def _devices_text(devices: Sequence[int]) -> str:
    more = "" if len(devices) <= MAX_DEVICES else f" and {len(devices) - MAX_DEVICES} more"
    return " ".join(map(str, devices[:MAX_DEVICES])) + more
