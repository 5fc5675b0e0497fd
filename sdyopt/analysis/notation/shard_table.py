"""The shards of a tensor on a terminal: a grid for vectors and matrices if it fits, else a table.

rich lays out the grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from math import prod

from rich import box
from rich.console import Console
from rich.table import Table

from sdyopt.analysis.notation.device_lists import devices_text
from sdyopt.analysis.notation.device_tiling import DeviceTiling, Sharing, slice_of
from sdyopt.analysis.notation.mesh_text import Shape
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind

# The number of shards of the largest grid, and of rows of a table whose cells determine column widths.
MAX_MEASURED = 1000
# The width of the narrowest cell of a grid, and the number of rows up to which lines separate them.
_CELL, _LINED = 4, 8
_LEGENDS = {
    Sharing.UNREDUCED: "a + b: the shard is the sum of what these devices have",
    Sharing.MANUAL: "a | b: the shards of these devices differ along manual axes",
}
_OTHER_REDUCTION = "a + b: these devices have partial results, and their {} is the shard"


def shard_table(
    tiling: DeviceTiling,
    shape: Shape,
    width: int,
    rows: int | None,
    reduction: ReductionKind = ReductionKind.SUM,
) -> Iterator[str]:
    """The shards with their devices, at most `rows` rows of them; None shows all.

    `reduction` combines the partial results of unreduced devices.
    """
    if tiling.shard_count == 1:
        yield f"the whole tensor: {_plural(tiling)} {devices_text(tiling, 0, width - 30)}\n"
    else:
        yield from _grid(tiling, shape, width, rows) or _table(tiling, shape, width, rows)
    for group in tiling.subgroups:
        if group.size > 1 and group.sharing in _LEGENDS:
            is_other = group.sharing is Sharing.UNREDUCED and reduction is not ReductionKind.SUM
            yield f"{_OTHER_REDUCTION.format(reduction) if is_other else _LEGENDS[group.sharing]}\n"


def _plural(tiling: DeviceTiling) -> str:
    return "device" if tiling.group_size == 1 else "devices"


def _hidden(tiling: DeviceTiling, shown: int) -> str:
    """The line with the number of shards that are not shown; empty if all are."""
    hidden = tiling.shard_count - shown
    shards = "shard" if hidden == 1 else "shards"
    return f"… and {hidden} more {shards}; --sharding-rows=0 shows all\n" if hidden else ""


# --- Grid -----------------------------------------------------------------------------------------


def _grid(tiling: DeviceTiling, shape: Shape, width: int, rows: int | None) -> list[str]:
    """The shards of a vector in a row, those of a matrix in two dimensions; empty if they do not fit."""
    columns, lines = tiling.tiles[-1], prod(tiling.tiles[:-1])
    shown = lines if rows is None else min(lines, rows)
    if len(shape) > 2 or columns * _CELL > width or shown * columns > MAX_MEASURED:
        return []
    heads = [_slice_text(shape[-1], columns, column) for column in range(columns)]
    body = []
    for line in range(shown):
        label = [_slice_text(shape[0], lines, line)] if len(shape) == 2 else []
        cells = [devices_text(tiling, line * columns + column, width // 3) for column in range(columns)]
        body.append([*label, *cells])
    # Slices are broken over two lines if they do not fit on one.
    for titles in (heads, [head.replace(":", ":\n") for head in heads]):
        grid = _grid_of(titles, body)
        if _console(2 * width).measure(grid).maximum <= width:
            return [*_rendered(grid, width), _hidden(tiling, shown * columns)]
    return []


def _grid_of(titles: list[str], body: list[list[str]]) -> Table:
    grid = Table(box=box.SQUARE, show_lines=len(body) <= _LINED)
    if len(body[0]) > len(titles):
        grid.add_column("", no_wrap=True)
    for title in titles:
        grid.add_column(title, justify="center", no_wrap=True)
    for row in body:
        grid.add_row(*row)
    return grid


# --- Table ----------------------------------------------------------------------------------------


def _table(tiling: DeviceTiling, shape: Shape, width: int, rows: int | None) -> Iterator[str]:
    """A row for each shard: its devices, and its slice of each sharded dimension.

    rich needs minutes for a million rows, so the columns are aligned here.
    """
    dims = [index for index, tiles in enumerate(tiling.tiles) if tiles > 1]
    count = tiling.shard_count if rows is None else min(tiling.shard_count, rows)
    room = max(12, width // 2)
    head = ["devices", *[f"dimension {dim}" for dim in dims]]
    widths = [
        max(map(len, column)) for column in zip(head, *_sample(tiling, shape, dims, room, count), strict=True)
    ]
    yield _row(head, widths)
    for shard in range(count):
        yield _row(_cells(tiling, shape, dims, room, shard), widths)
    yield _hidden(tiling, count)


def _cells(tiling: DeviceTiling, shape: Shape, dims: list[int], room: int, shard: int) -> list[str]:
    tile = tiling.tile_of(shard)
    slices = [_slice_text(shape[dim], tiling.tiles[dim], tile[dim]) for dim in dims]
    return [devices_text(tiling, shard, room), *slices]


def _sample(
    tiling: DeviceTiling, shape: Shape, dims: list[int], room: int, count: int
) -> Iterator[list[str]]:
    """The first rows and the last one, whose cells determine column widths."""
    return (
        _cells(tiling, shape, dims, room, shard) for shard in {*range(min(count, MAX_MEASURED)), count - 1}
    )


def _row(cells: list[str], widths: list[int]) -> str:
    return "  ".join([cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]).rstrip() + "\n"


def _slice_text(size: int | None, tiles: int, index: int) -> str:
    """`16:32`, `empty`, or `1/4` if the size is unknown: shard 1 of 4, counted from 0."""
    if size is None:
        return f"{index}/{tiles}"
    start, stop = slice_of(size, tiles, index)
    return "empty" if start == stop else f"{start}:{stop}"


# --- rich -----------------------------------------------------------------------------------------


def _console(width: int) -> Console:
    return Console(
        file=StringIO(),
        width=width,
        force_terminal=False,
        no_color=True,
        highlight=False,
        emoji=False,
        markup=False,
    )


def _rendered(table: Table, width: int) -> Iterator[str]:
    console = _console(width)
    console.print(table)
    assert isinstance(console.file, StringIO)
    return (line.rstrip() + "\n" for line in console.file.getvalue().splitlines())
