"""A report for a terminal: the most important figures first, as wide as the terminal.

rich lays out the tables. What comes from the program (names, locations) is never read as markup, and
its control characters are replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from io import StringIO
from itertools import islice
from pathlib import PurePath

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sdyopt.report.figures import Collective, Report
from sdyopt.report.source_locations import SourceLocation
from sdyopt.report.totals import Total, flop_totals, useful_share, wire_total, wire_totals
from sdyopt.report.units import bytes_text, flops_text, share_text, times_text, total_text

# Rows of a table, if not asked for all.
ROWS = 8
MIN_WIDTH = 60
# Columns that stay whole when a terminal is narrow.
_FIGURE_WIDTH = {
    "#": 3,
    "bytes": 10,
    "copies": 8,
    "count": 5,
    "share": 5,
    "times": 5,
    "FLOPs": 11,
    "useful": 6,
}


def text_report(report: Report, width: int = 80, rows: int | None = ROWS) -> str:
    """The report as text of at most `width` columns; `rows` limits every table, None shows all."""
    out = StringIO()
    console = Console(file=out, width=max(width, MIN_WIDTH), no_color=True, highlight=False, emoji=False)
    for part in _parts(report, rows):
        console.print(part)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def _parts(report: Report, rows: int | None) -> Iterator[Text | Table]:
    if report.mesh:
        yield _text(f"{report.devices} devices, mesh {report.mesh}")
        yield _text("")
    yield from _communication(report, rows)
    yield from _memory(report, rows)
    yield from _compute(report, rows)


# --- Communication ------------------------------------------------------------------------------------


def _communication(report: Report, rows: int | None) -> Iterator[Text | Table]:
    count = len(report.collectives)
    total = wire_total(report)
    yield _text(
        f"communication: {total_text(total)} on the wire per device (ring model), "
        f"{count} collective{'' if count == 1 else 's'}"
    )
    by_kind = wire_totals(report.collectives, lambda each: f"{each.kind} {each.group}")
    if by_kind:
        table = _table("bytes", "share", "count", "kind and axes", right=3)
        for key, part in islice(by_kind.items(), rows):
            table.add_row(*_row(total_text(part), _share(part, total), str(part.count), key))
        yield table
        yield _rest(len(by_kind), rows)
    largest = sorted(report.collectives, key=_order)
    if largest and any(each.wire_bytes for each in largest):
        table = _table("#", "bytes", "times", "where", "why", right=3)
        for each in islice(largest, rows):
            runs = (
                None if each.wire_bytes is None or each.times is None else each.wire_bytes * each.times.high
            )
            table.add_row(
                *_row(
                    str(each.number),
                    bytes_text(runs),
                    times_text(each.times),
                    _line(each.location),
                    each.cause,
                )
            )
        yield table
        yield _rest(len(largest), rows)
    if report.undecided:
        yield _text(f"not decided yet: {len(report.undecided)}")
        table = _table("value", "type", "where", "what")
        for undecided in islice(report.undecided, rows):
            table.add_row(*_row(undecided.value, undecided.type, _line(undecided.location), undecided.kind))
        yield table
        yield _rest(len(report.undecided), rows)
    yield _text("")


def _bytes_of_runs(each: Collective) -> Fraction | None:
    if each.wire_bytes is None or each.times is None:
        return None
    return each.wire_bytes * each.times.high


def _order(each: Collective) -> tuple[int, float, int]:
    """Unknown figures first, then the largest, then by number."""
    size = _bytes_of_runs(each)
    return (0, 0.0, each.number) if size is None else (1, -float(size), each.number)


def _share(part: Total, total: Total) -> str:
    return share_text(part.high / total.high) if total.high else ""


# --- Memory -------------------------------------------------------------------------------------------


def _memory(report: Report, rows: int | None) -> Iterator[Text | Table]:
    memory = report.memory
    unknown = f", {memory.unknown_values} values of unknown size" if memory.unknown_values else ""
    where = f" at {_line(memory.peak_location)}" if memory.peak_location.text else ""
    yield _text(
        f"memory per device: peak {bytes_text(memory.peak)}{where} (upper bound: no buffer is reused)"
    )
    yield _text(
        f"  arguments {bytes_text(memory.arguments)}, results {bytes_text(memory.results)}, constants "
        f"{bytes_text(memory.constants)}, peak with arguments held {bytes_text(memory.peak_with_arguments)}"
        f"{unknown}"
    )
    if memory.live_at_peak:
        table = _table("bytes", "copies", "value", "type", "where", right=2)
        for value in islice(memory.live_at_peak, rows):
            copies = f"{value.replicas} of {report.devices}"
            table.add_row(
                *_row(bytes_text(value.bytes), copies, value.value, value.type, _line(value.location))
            )
        yield table
        yield _rest(len(memory.live_at_peak), rows)
    yield _text("")


# --- Compute ------------------------------------------------------------------------------------------


def _compute(report: Report, rows: int | None) -> Iterator[Text | Table]:
    local, _ = flop_totals(report)
    share = useful_share(report)
    useful = "" if share is None else f", {share_text(share)} of it useful"
    unknown = f", {local.unknown} products unknown" if local.unknown else ""
    yield _text(f"compute per device: {flops_text(local.high)} in {local.count} products{useful}{unknown}")
    repeated = [
        each
        for each in report.products
        if each.flops and each.global_flops and each.flops * report.devices > each.global_flops
    ]
    if repeated:
        repeated.sort(key=lambda each: (-(each.flops or 0), each.value))
        table = _table("FLOPs", "useful", "value", "where", right=2)
        for each in islice(repeated, rows):
            assert each.flops is not None and each.global_flops is not None
            part = each.global_flops / (each.flops * report.devices)
            table.add_row(*_row(flops_text(each.flops), f"{part:.0%}", each.value, _line(each.location)))
        yield table
        yield _rest(len(repeated), rows)


# --- Layout -------------------------------------------------------------------------------------------


def _table(*columns: str, right: int = 0) -> Table:
    """A table without lines whose first `right` columns are figures."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for number, column in enumerate(columns):
        if number < right:
            table.add_column(column, justify="right", no_wrap=True, min_width=_FIGURE_WIDTH.get(column))
        else:
            width = _FIGURE_WIDTH.get(column)
            table.add_column(column, no_wrap=True, overflow="ellipsis", min_width=width)
    return table


def _line(location: SourceLocation) -> str:
    """The line without the folders of its file."""
    return f"{PurePath(location.file).name}:{location.line}" if location.line else location.name_stack


def _row(*cells: str) -> list[Text]:
    return [_text(cell) for cell in cells]


def _text(text: str) -> Text:
    return Text("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


def _rest(count: int, rows: int | None) -> Text:
    hidden = 0 if rows is None else max(count - rows, 0)
    return _text(f"  … and {hidden} more" if hidden else "")
