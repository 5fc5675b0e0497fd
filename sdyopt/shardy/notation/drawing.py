"""A sharding on a terminal: what is sharded, the devices of each shard, and the sharding in each notation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from math import prod

from rich import box
from rich.console import Console
from rich.table import Table

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.text import counted, replace_unprintable
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.shardy.notation.device_tiling import DeviceTiling, Maximal, Sharing, Uniform, slice_of
from sdyopt.shardy.notation.mesh_text import Shape
from sdyopt.shardy.notation.reading import Form, ShardingView, forms

MIN_WIDTH = 60

# The length at which a list of device ids is cut, unless all rows are shown.
MAX_LISTED = 64
_LABEL_WIDTH = 15
_UNIFORM = {
    Sharing.REPLICATED: "every device has the whole tensor",
    Sharing.UNREDUCED: "the whole tensor is a sum, and every device has one term of it",
    Sharing.MANUAL: "every device has a tensor of its own",
}


def drawing(view: ShardingView, width: int = 80, rows: int | None = 16, mesh_version: int = 19) -> str:
    """The text of a view, if possible in `width` columns.

    `rows` is the largest number of rows of shards; None shows all.
    """
    width = max(width, MIN_WIDTH)
    max_devices = None if rows is None else MAX_LISTED
    parts = [*_head(view, width, max_devices), "\n", *_shards(view, width, rows), "\n"]
    parts += [line for form in forms(view, mesh_version, max_devices) for line in _form_lines(form, width)]
    return "".join(parts)


# --- Head and notations ---------------------------------------------------------------------------


def _head(view: ShardingView, width: int, max_devices: int | None) -> Iterator[str]:
    if view.shape is not None:
        yield from _entry("tensor", shape_text(view.shape), width)
    on_mesh = view.on_mesh
    if on_mesh is not None:
        yield _line("mesh", mesh_text(on_mesh.mesh, max_devices))
        if on_mesh.manual_axes:
            names = ", ".join([f'"{name}"' for name in on_mesh.manual_axes])
            yield from _entry("manual", f"in the body of an sdy.manual_computation along {names}", width)
    tiling = view.device_tiling
    if tiling is not None:
        yield from _entry("shards", _summary(tiling, view.shape or ()), width)
        for sentence in _padding(tiling, view.shape or ()):
            yield from _entry("", sentence, width)


def _form_lines(form: Form, width: int) -> Iterator[str]:
    """The lines of a notation. Its text stays on one line, for copying; the reason why it has none wraps."""
    if form.text:
        return iter([_line(form.notation, form.text)])
    return _entry(form.notation, f"none: {form.problem}", width)


def _entry(label: str, sentence: str, width: int) -> Iterator[str]:
    lines = textwrap.wrap(sentence, width - _LABEL_WIDTH, break_on_hyphens=False) or [""]
    return (_line("" if number else label, line) for number, line in enumerate(lines))


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL_WIDTH}}{replace_unprintable(text)}\n"


def shape_text(shape: Shape) -> str:
    """`64x?x128`; `scalar` for rank 0."""
    return "x".join(["?" if size is None else str(size) for size in shape]) or "scalar"


def mesh_text(mesh: Mesh, max_devices: int | None = None) -> str:
    """`<["x"=4], device_ids=[…]>`, with at most `max_devices` device ids; None shows all."""
    cut = mesh.device_ids[:max_devices]
    text = Mesh.assembly.text(Mesh(mesh.axes, cut))
    return text if cut == mesh.device_ids else text.removesuffix("]>") + ", …]>"


def _summary(tiling: DeviceTiling, shape: Shape) -> str:
    local = tuple([None if n is None else -(-n // k) for n, k in zip(shape, tiling.tiles, strict=True)])
    shards = f"{tiling.shard_count} of {shape_text(local)}" if local else str(tiling.shard_count)
    devices = counted(tiling.group_size, "device")
    if tiling.shard_count == 1:
        return f"{shards}, on {devices}"
    return f"{shards}, each on {devices}"


def _padding(tiling: DeviceTiling, shape: Shape) -> Iterator[str]:
    for index, (size, tiles) in enumerate(zip(shape, tiling.tiles, strict=True)):
        if size is not None and size % tiles:
            yield f"dimension {index} of size {size} is not divisible by {tiles}: the last shards are padded"


# --- Devices --------------------------------------------------------------------------------------


def _shards(view: ShardingView, width: int, rows: int | None) -> Iterator[str]:
    tiling = view.device_tiling
    if tiling is not None:
        return shard_table(tiling, view.shape or (), width, rows, view.reduction)
    match view.tiling:
        case Maximal(device):
            sentence = f"device {device} has the whole tensor"
        case Uniform(sharing):
            sentence = _UNIFORM[sharing]
        case _:
            sentence = "the devices of the tensor are unknown"
    return iter([f"{sentence}\n"])


# The shards of a tensor on a terminal: a grid for vectors and matrices if it fits, else a table.
#
# rich lays out the grid.


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
    table = _ShardTable(tiling, shape, width, rows)
    if tiling.shard_count == 1:
        devices = "device" if tiling.group_size == 1 else "devices"
        yield f"the whole tensor: {devices} {devices_text(tiling, 0, width - 30)}\n"
    else:
        yield from table.grid() or table.table()
    for group in tiling.subgroups:
        if group.size > 1 and group.sharing in _LEGENDS:
            is_other = group.sharing is Sharing.UNREDUCED and reduction is not ReductionKind.SUM
            yield f"{_OTHER_REDUCTION.format(reduction) if is_other else _LEGENDS[group.sharing]}\n"


@dataclass(frozen=True)
class _ShardTable:
    """The table of the shards of a tensor, in at most `rows` rows."""

    tiling: DeviceTiling
    shape: Shape
    width: int
    rows: int | None

    def _hidden(self, shown: int) -> str:
        """The line with the number of shards that are not shown; empty if all are."""
        hidden = self.tiling.shard_count - shown
        return f"… and {counted(hidden, 'more shard')}; --sharding-rows=0 shows all\n" if hidden else ""

    def grid(self) -> list[str]:
        """The shards of a vector in a row, those of a matrix in two dimensions; empty if they do not fit."""
        columns, lines = self.tiling.tiles[-1], prod(self.tiling.tiles[:-1])
        shown = lines if self.rows is None else min(lines, self.rows)
        if len(self.shape) > 2 or columns * _CELL > self.width or shown * columns > MAX_MEASURED:
            return []
        heads = [_slice_text(self.shape[-1], columns, column) for column in range(columns)]
        body = []
        for line in range(shown):
            label = [_slice_text(self.shape[0], lines, line)] if len(self.shape) == 2 else []
            cells = [
                devices_text(self.tiling, line * columns + column, self.width // 3)
                for column in range(columns)
            ]
            body.append([*label, *cells])
        # Slices are broken over two lines if they do not fit on one.
        for titles in (heads, [head.replace(":", ":\n") for head in heads]):
            grid = _grid_of(titles, body)
            if _console(2 * self.width).measure(grid).maximum <= self.width:
                return [*self._rendered(grid), self._hidden(shown * columns)]
        return []

    def table(self) -> Iterator[str]:
        """A row for each shard: its devices, and its slice of each sharded dimension.

        rich needs minutes for a million rows, so the columns are aligned here.
        """
        dims = [index for index, tiles in enumerate(self.tiling.tiles) if tiles > 1]
        count = self.tiling.shard_count if self.rows is None else min(self.tiling.shard_count, self.rows)
        room = max(12, self.width // 2)
        head = ["devices", *[f"dimension {dim}" for dim in dims]]
        widths = [
            max(map(len, column)) for column in zip(head, *self._sample(dims, room, count), strict=True)
        ]
        yield _row(head, widths)
        for shard in range(count):
            yield _row(self._cells(dims, room, shard), widths)
        yield self._hidden(count)

    def _cells(self, dims: list[int], room: int, shard: int) -> list[str]:
        tile = self.tiling.tile_of(shard)
        slices = [_slice_text(self.shape[dim], self.tiling.tiles[dim], tile[dim]) for dim in dims]
        return [devices_text(self.tiling, shard, room), *slices]

    def _sample(self, dims: list[int], room: int, count: int) -> Iterator[list[str]]:
        """The first rows and the last one, whose cells determine column widths."""
        return (self._cells(dims, room, shard) for shard in {*range(min(count, MAX_MEASURED)), count - 1})

    def _rendered(self, table: Table) -> Iterator[str]:
        console = _console(self.width)
        console.print(table)
        assert isinstance(console.file, StringIO)
        return (line.rstrip() + "\n" for line in console.file.getvalue().splitlines())


# --- Grid -----------------------------------------------------------------------------------------


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


# The devices of a larger group are not listed one by one.
MAX_GROUP = 512

# The shortest run of consecutive ids, and the shortest other progression, that is abbreviated.
_RUN, _PROGRESSION = 3, 5
_SEPARATORS = {Sharing.UNREDUCED: " + ", Sharing.MANUAL: " | ", Sharing.REPLICATED: ", "}


def devices_text(tiling: DeviceTiling, shard: int, room: int) -> str:
    """The devices of a shard, cut to fit `room` columns.

    Commas separate replicas, `+` devices with partial results, `|` devices with data of their own.
    """
    groups = [group for group in tiling.subgroups if group.size > 1]
    if tiling.group_size > MAX_GROUP:
        return _ends(tiling, shard)
    devices = list(islice(tiling.devices_of(shard), MAX_GROUP))
    replicas = groups.pop().size if groups and groups[-1].sharing is Sharing.REPLICATED else 1
    parts = [
        _replicated(sorted(devices[start : start + replicas])) for start in range(0, len(devices), replicas)
    ]
    separator = ", "
    for group in reversed(groups):
        separator = _SEPARATORS[group.sharing]
        terms = [f"({part})" if " " in part else part for part in parts]
        parts = [separator.join(terms[at : at + group.size]) for at in range(0, len(terms), group.size)]
    return _cut(parts[0], separator, room)


def _ends(tiling: DeviceTiling, shard: int) -> str:
    """The first two devices and the last one of a group, or both ends of a run."""
    start = shard * tiling.group_size
    first, second, last = (tiling.order.device_at(start + at) for at in (0, 1, tiling.group_size - 1))
    return f"{first}-{last}" if _is_run(tiling) else f"{first}, {second}, … {last}"


def _is_run(tiling: DeviceTiling) -> bool:
    """Whether the devices of each shard are replicas with consecutive ids."""
    sharings = {group.sharing for group in tiling.subgroups if group.size > 1}
    minor = tiling.order.digits[-1]
    is_counted = tiling.order.is_iota and minor.stride == 1 and minor.size % tiling.group_size == 0
    return sharings == {Sharing.REPLICATED} and is_counted


def _replicated(devices: list[int]) -> str:
    """`0-3, 8` or `0, 2, … 14`: long runs and progressions are abbreviated."""
    texts: list[str] = []
    start = 0
    while start < len(devices):
        stride = devices[start + 1] - devices[start] if start + 1 < len(devices) else 1
        end = start + 1
        while end < len(devices) and devices[end] == devices[end - 1] + stride:
            end += 1
        if end - start >= (_RUN if stride == 1 else _PROGRESSION):
            first, second, last = devices[start], devices[start + 1], devices[end - 1]
            texts.append(f"{first}-{last}" if stride == 1 else f"{first}, {second}, … {last}")
            start = end
        else:
            texts.append(str(devices[start]))
            start += 1
    return ", ".join(texts)


def _cut(text: str, separator: str, room: int) -> str:
    """The text, or as much of it as fits, cut after a separator if possible."""
    if len(text) <= room:
        return text
    end = text.rfind(separator, 0, max(room - len(separator), 0))
    return f"{text[:end]}{separator}…" if end > 0 else f"{text[: room - 1]}…"
