"""The frame of a page, and what all pages have in common.

A page is one file: styles, scripts and data are in it. Elements are made with htpy, which escapes all text.
The data of tables and charts is JSON, which the scripts of the page show; they make text nodes of it, never
markup. A policy in the head allows these scripts alone, by their hashes, and no access to a network.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from zlib import compress

import htpy as h
from markupsafe import Markup

from sdyopt.analysis.interface.pages.section import ReportTable, Section
from sdyopt.base.diagnostics.text import replace_unprintable, without_unsafe

_FOLDER = Path(__file__).parent

# The number of colours for axes; the position in the mesh selects one.
AXIS_COLOURS = 8
_AXIS = re.compile(r"""(["'])([^"']*)\1(?=[:,;=}\]) ]|$)""")

_QUOTED = re.compile(r'"([^"]*)"')
# So many parts of a bar are named below it.
_LEGEND = 8
# Headline figures of more characters are smaller.
_LONG = 14

# Longer lines of a program are cut: a signature of 1,000 arguments is one line.
MAX_LINE = 600
# Of a longer program, only the first lines are in the file.
MAX_LINES = 100_000
# A longer text is compressed.
_MAX_PLAIN = 200_000


class Page:
    """A page as it is built. `axes` are the names of mesh axes, whose colours follow from their order."""

    def __init__(self, title: str, axes: Sequence[str] = ()) -> None:
        self.title = title
        self._colours = {axis: number % AXIS_COLOURS for number, axis in enumerate(axes)}
        self._tables: dict[str, object] = {}
        self._data: dict[str, object] = {"axes": [*map(replace_unprintable, axes)], "tables": self._tables}
        self._texts: list[tuple[str, str]] = []

    def add_data(self, name: str, data: object) -> None:
        """Gives the scripts data, as JSON."""
        self._data[name] = data

    def add_text(self, name: str, text: str) -> None:
        """Gives the scripts a long text, which they read when it is shown."""
        self._texts.append((name, text))

    def coloured(self, text: str) -> h.Node:
        """A text with the names of axes in their colours."""
        return list(self._coloured(replace_unprintable(text)))

    def _coloured(self, text: str) -> Iterator[h.Node]:
        end = 0
        for match in _AXIS.finditer(text):
            colour = self._colours.get(match[2])
            if colour is not None:
                yield text[end : match.start()]
                yield h.i(f".a{colour}")[match[2] if match[1] == '"' else match[0]]
                end = match.end()
        yield text[end:]

    def section(
        self, anchor: str, section: Section, tables: Sequence[ReportTable], *children: h.Node
    ) -> h.Node:
        """A section with its heading and sentences, and then other content and tables."""
        name, colon, figures = section.heading.partition(":")
        names = [f"{anchor}-{number}" for number in range(len(tables))]
        self._tables |= {name: _table(table) for name, table in zip(names, tables, strict=True)}
        return h.section(id=anchor)[
            h.h2[replace_unprintable(name)],
            h.p[self.coloured(figures.strip())] if colon else None,
            (h.p(".note")[self.coloured(sentence)] for sentence in section.sentences),
            children,
            (
                h.div(data_table=name)[h.h3[replace_unprintable(table.title)] if table.title else None]
                for name, table in zip(names, tables, strict=True)
            ),
        ]

    def bar(self, parts: Sequence[tuple[str, float]], label: str) -> h.Node:
        """A bar of parts, each with its name and its share of the width.

        Those of one axis differ in opacity.
        """
        at = 0.0
        rects: list[h.Node] = []
        legend: list[h.Node] = []
        ranks: dict[str, int] = {}
        for name, share in parts:
            axis = next(iter(_QUOTED.findall(name)), "")
            rank = ranks[axis] = ranks.get(axis, -1) + 1
            style = {
                "class": f"f{self._colours.get(axis, 0)}",
                "fill-opacity": f"{max(1 - 0.3 * rank, 0.25):.2f}",
            }
            place = {"x": f"{at * 100:.2f}%", "width": f"{share * 100:.2f}%", "height": "100%"}
            rects.append(h.rect({**style, **place})[h.title[replace_unprintable(name).replace('"', "")]])
            at += share
            if len(legend) < _LEGEND:
                whole = h.rect({**style, "width": "100%", "height": "100%"})
                square = h.svg(".square", aria_hidden="true")[whole]
                legend.append(h.span[square, self.coloured(name)])
        more = h.span[f"and {len(parts) - _LEGEND} more"] if len(parts) > _LEGEND else None
        return h.figure(".bar")[
            h.svg(role="img", aria_label=label)[rects], h.figcaption(".legend")[legend, more]
        ]

    def axis_chips(self, sizes: Mapping[str, int]) -> h.Node:
        """The axes of a mesh with their sizes."""
        return [
            [
                h.span(".axis")[
                    h.i(f".a{self._colours.get(axis, 0)}")[replace_unprintable(axis)], f" = {size}"
                ],
                " ",
            ]
            for axis, size in sizes.items()
        ]

    def html(self, body: Iterable[h.Node], scripts: Sequence[Path], styles: Sequence[Path] = ()) -> str:
        """The text of the page. `page.js` and `page.css` are part of every page."""
        css = "\n".join(map(_text_of, (_FOLDER / "page.css", *styles)))
        # In a function of its own, a script shares no names with others on a page that contains this one.
        code = "\n".join(map(_text_of, (_FOLDER / "page.js", *scripts)))
        code = f"(() => {{\n{code}}})();"
        digest = b64encode(sha256(code.encode()).digest()).decode()
        policy = (
            f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
            "base-uri 'none'; form-action 'none'"
        )
        page = h.html(lang="en")[
            h.head[
                h.meta(charset="utf-8"),
                h.meta(http_equiv="Content-Security-Policy", content=policy),
                h.meta(name="viewport", content="width=device-width, initial-scale=1"),
                h.meta(name="color-scheme", content="light dark"),
                h.title[replace_unprintable(self.title)],
                h.style[Markup(css)],
            ],
            h.body[
                h.a(".skip", href="#main")["skip to the figures"],
                *body,
                (h.script(type="text/plain", id=name)[Markup(_packed(text))] for name, text in self._texts),
                h.script(type="application/json", id="data")[Markup(_json(self._data))],
                h.script[Markup(code)],
            ],
        ]
        return without_unsafe(f"{page}\n")


def card(title: str, figure: h.Node, unit: h.Node, *lines: h.Node) -> h.Node:
    """A headline figure, with what it is of, and further lines."""
    return h.div(".card")[
        h.h3[title],
        h.p(".figure.long" if isinstance(figure, str) and len(figure) > _LONG else ".figure")[figure],
        h.p(".unit")[unit],
        (h.p[line] for line in lines if line),
    ]


def fits_badge(fits: bool, memory: str) -> h.Node:
    """Whether a program fits in the memory of a device."""
    return (
        h.span(".badge.good")[f"✓ fits in {memory}"]
        if fits
        else h.span(".badge.bad")[f"✗ does not fit in {memory}"]
    )


def _table(table: ReportTable) -> dict[str, object]:
    """A table of texts for the scripts."""
    return {
        "columns": [*map(replace_unprintable, table.columns)],
        "figures": table.figures,
        "notes": table.has_notes,
        "rows": [[*map(replace_unprintable, row)] for row in table.rows],
    }


class Strings:
    """Numbers the strings of data, so that each is in the file once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.all))
        if number == len(self.all):
            self.all.append(replace_unprintable(text))
        return number


def program_lines(text: str) -> list[str]:
    """Lines of a program without control characters, the long ones cut."""
    lines = text.rstrip("\n").split("\n")[:MAX_LINES]
    return [replace_unprintable(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} …") for line in lines]


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _json(data: object) -> str:
    """JSON that does not end the script that it is in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _packed(text: str) -> str:
    """A text as JSON; a long one compressed, in base64."""
    if len(text) <= _MAX_PLAIN:
        return _json(text)
    return b64encode(compress(text.encode("utf-8", "replace"), 9)).decode()
