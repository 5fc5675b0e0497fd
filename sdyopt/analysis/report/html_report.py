"""A report as one HTML file that needs no network: tables to sort, bars, the memory curve, the program.

Colours and layout are in `report.css`, sorting and the colouring of the program in `report.js`; both are
written into the file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from sdyopt.analysis.figures.figures import Collective, Memory, Report
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.report.sections import ReportTable, Section, sections_of

_FOLDER = Path(__file__).parent

# The maximum number of points of the memory curve. With more operations, a point is the maximum of several.
MAX_POINTS = 600

# The number of lines of the program that a browser lays out together.
LINES_PER_BLOCK = 500

# A sharding that occurs at least this often in the program is stored once, and a number refers to it.
MIN_REPEATS = 200

# The number of colours for axes; the position in the mesh selects one.
AXIS_COLOURS = 8

_CURVE_WIDTH, _CURVE_HEIGHT = 800, 160
_AXIS = re.compile(r'"([^"]*)"(?=[:,;=}\] ]|$)')
_SHARDING = re.compile(r"(?:sdy\.sharding = #sdy\.sharding(?:_per_value<\[)?)?<@[^<>]*>(?:\]>)?")

# The delimiters of the number of a shared text. The program cannot contain them: they are not printable, and
# unprintable characters have been replaced.
_BEFORE, _AFTER = "\ue000", "\ue001"
_NAME = re.compile(r"\s*(%[\w$.-]+(?:#\d+)?)")


def html_report(report: Report, program: str, title: str) -> str:
    """The report on a program, whose printed text is shown below the figures."""
    axes = {axis: number % AXIS_COLOURS for number, axis in enumerate(re.findall(r'"([^"]*)"=', report.mesh))}
    parts = [
        *page_start(title),
        f"<h1>{escape(printable(title))}</h1>",
    ]
    if report.mesh:
        parts.append(f"<p>{report.devices} devices, mesh {_coloured(report.mesh, axes)}</p>")
    if report.assumption:
        parts.append(f"<p>{escape(report.assumption)}</p>")
    links = _lines_of_collectives(program, report.collectives)
    for section in sections_of(report):
        parts += _section(section, axes, links)
        if section.heading.startswith("memory"):
            parts += _curve(report.memory)
    parts += _program(program, axes, {line: number for number, line in links.items()})
    parts.append(f"<script>{_text_of('report.js')}</script></body></html>")
    return "\n".join(parts) + "\n"


def _text_of(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


# --- Figures ------------------------------------------------------------------------------------------


def _section(section: Section, axes: Mapping[str, int], links: Mapping[int, int]) -> Iterator[str]:
    yield f"<section><h2>{escape(printable(section.heading))}</h2>"
    for sentence in section.sentences:
        yield f"<p>{escape(printable(sentence))}</p>"
    for table in section.tables:
        yield from _table(table, axes, links)
    yield "</section>"


def _table(table: ReportTable, axes: Mapping[str, int], links: Mapping[int, int]) -> Iterator[str]:
    notes = " class=notes" if table.has_notes else ""
    yield f"<h3>{escape(table.title)}</h3><div class=scroll><table{notes}><thead><tr>"
    for number, column in enumerate(table.columns):
        yield f"<th{' class=n' if number < table.figures else ''}>{escape(column)}</th>"
    yield "</tr></thead><tbody>"
    share = table.columns.index("share") if "share" in table.columns else None
    for row in table.rows:
        bar = "" if share is None else f' style="--share:{row[share]}"'
        cells = [
            _cell(table.columns[number], cell, number < table.figures, axes, links)
            for number, cell in enumerate(row)
        ]
        yield f"<tr{bar}>{''.join(cells)}"
    yield "</tbody></table></div>"


def _cell(column: str, text: str, is_figure: bool, axes: Mapping[str, int], links: Mapping[int, int]) -> str:
    content = _coloured(text, axes)
    if column == "#" and (line := links.get(int(text))) is not None:
        content = f'<a href="#L{line}">{content}</a>'
    # HTML lets the end tags of cells and rows be left out.
    return f"<td class=n>{content}" if is_figure else f"<td>{content}"


def _curve(memory: Memory) -> Iterator[str]:
    """A line chart of live bytes over the operations of the entry function."""
    points = memory.curve
    if len(points) < 2:
        return
    size = -(-len(points) // MAX_POINTS)
    shown = [max(points[at : at + size], key=lambda p: p.bytes) for at in range(0, len(points), size)]
    top = max(max(point.bytes for point in shown), 1)
    step = _CURVE_WIDTH / max(len(shown) - 1, 1)
    path = " ".join(
        f"{'M' if index == 0 else 'L'}{index * step:.1f} {_CURVE_HEIGHT * (1 - point.bytes / top):.1f}"
        for index, point in enumerate(shown)
    )
    yield f"<h3>live bytes over the program, at most {bytes_text(top)}</h3>"
    yield (
        f'<svg viewBox="0 0 {_CURVE_WIDTH} {_CURVE_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="live memory over the program"><path class=area d="{path} L{_CURVE_WIDTH} '
        f'{_CURVE_HEIGHT} L0 {_CURVE_HEIGHT} Z"/><path class=line d="{path}"/></svg>'
    )
    yield f"<p>peak at {escape(printable(memory.peak_location.path_text))}</p>"


# --- The program --------------------------------------------------------------------------------------


def _lines_of_collectives(program: str, collectives: Sequence[Collective]) -> dict[int, int]:
    """The line of each collective in the printed program, counted from 1; both are in the same order."""
    found: dict[int, int] = {}
    waiting = iter(collectives)
    each = next(waiting, None)
    for number, line in enumerate(program.split("\n"), 1):
        if each is None:
            break
        if f"{each.dialect}.{each.kind}" not in line or (name := _NAME.match(line)) is None:
            continue
        if name[1].partition("#")[0] == each.value.partition("#")[0]:
            found[each.number] = number
            each = next(waiting, None)
    return found


def _program(program: str, axes: Mapping[str, int], collectives: Mapping[int, int]) -> Iterator[str]:
    """The program in blocks of lines: a browser lays out and colours those that are near the screen."""
    lines = printable_lines(program.rstrip("\n").split("\n"))
    shared = _repeated(lines)
    texts = _as_attribute(list(shared))
    yield f'<section><h2>program</h2><div class=program data-axes="{_as_attribute(list(axes))}"'
    yield f' data-shared="{texts}">'
    for start in range(0, len(lines), LINES_PER_BLOCK):
        block = lines[start : start + LINES_PER_BLOCK]
        text = [
            _program_line(line, number, collectives, shared) for number, line in enumerate(block, start + 1)
        ]
        # HTML drops a line break at the start of <pre>, so an empty first line needs one more.
        body = "\n".join(text)
        yield f'<pre style="--lines:{len(block)}">\n{body}</pre>'
    yield "</div></section>"


def _repeated(lines: Sequence[str]) -> dict[str, int]:
    """The shardings that the program repeats often, with their numbers."""
    counts = Counter(text for line in lines for text in _SHARDING.findall(line))
    texts = (text for text, count in counts.items() if count >= MIN_REPEATS)
    return {text: number for number, text in enumerate(texts)}


def _as_attribute(texts: Sequence[str]) -> str:
    return escape(json.dumps(texts, ensure_ascii=False))


def _program_line(line: str, number: int, collectives: Mapping[int, int], shared: Mapping[str, int]) -> str:
    def reference(found: re.Match[str]) -> str:
        at = shared.get(found[0])
        return found[0] if at is None else f"{_BEFORE}{at}{_AFTER}"

    text = as_tag_text(_SHARDING.sub(reference, line) if shared else line)
    if number in collectives:
        return f'<b id=L{number} class=c title="collective {collectives[number]}">{text}</b>'
    return text


def _coloured(text: str, axes: Mapping[str, int]) -> str:
    """The text as HTML, each axis name in its colour."""

    def axis(match: re.Match[str]) -> str:
        colour = axes.get(match[1])
        return match[0] if colour is None else f"<i class=a{colour}>{match[0]}</i>"

    return _AXIS.sub(axis, as_tag_text(printable(text)))


# Text of HTML pages: the start of a page, and escaping.
#
# Colours and layout of all pages are in `report.css`, which is written into each.


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
