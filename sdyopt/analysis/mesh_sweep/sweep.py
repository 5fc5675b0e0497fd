"""Runs a sweep over mesh sizes in several processes, and shows its table.

axes = read_sizes("fsdp=1..64 x tp=1,8")
sweep = run_sweep(request, axes, memory)
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import compress
from textwrap import wrap
from typing import Any

from sdyopt.analysis.changes.processes import started
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.figures.units import bytes_text, flops_text, seconds_text, share_text
from sdyopt.analysis.interface.flag import TextFile
from sdyopt.analysis.mesh_sweep.points import FIXED, points_of, rows_of, swept_axes
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.ids import USAGE_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import UsageError, nearest_or_all
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.notation.mesh_text import error_at_range

_FLAG = "for the --mesh-sweep option:"
_AXIS = re.compile(r"\s*\"?([A-Za-z_][\w.]*)\"?\s*=\s*([0-9]+(?:\s*(?:\.\.|,)\s*[0-9]+)*)\s*")
_SEPARATOR = re.compile(r"[×*;]|x(?=[\s\"A-Za-z_])")
# More points than this are rather a mistake.
MAX_POINTS = 512
# The columns of the longest bar, and the least that it has if bars are shown.
_BAR, _LEAST_BAR = 20, 4
# The columns of `does not fit`, and of `best of 1024`.
_LEAST_NOTE = 12
_GAP, _BELOW = "  ", "      "
_EXAMPLE = "write NAME=SIZES for each axis, such as 'fsdp=1..64 x tp=1,2,8'"
_NO_MESH = (
    "give its arguments shardings, such as NamedSharding(mesh, P('data')); -sdy-lift-inlined-meshes names "
    "meshes without a name"
)


def read_sizes(text: str) -> dict[str, list[int]]:
    """The sizes of each axis. Raises UsageError."""
    if text.startswith("--"):
        # It is the next option.
        raise UsageError("the --mesh-sweep option needs a value", _EXAMPLE)
    numbering: dict[str, list[int]] = {}
    position = 0
    while True:
        match = _AXIS.match(text, position)
        if match is None:
            raise UsageError(f"{_FLAG} '{text[position:].strip()}' is not an axis with its sizes", _EXAMPLE)
        name, sizes = match.groups()
        if name in numbering:
            raise UsageError(f"{_FLAG} the axis '{name}' occurs twice", "give all of its sizes at once")
        numbering[name] = list(dict.fromkeys(size for part in sizes.split(",") for size in _range(part)))
        position = match.end()
        if position == len(text):
            break
        separator = _SEPARATOR.match(text, position)
        if separator is None:
            if text[position:].lstrip().startswith(".."):
                size, _, _ = sizes.rpartition(",")[2].partition("..")
                help = f"write its largest size, such as '{name}={size.strip()}..64'"
                raise UsageError(f"{_FLAG} the range of '{name}' has no end", help)
            message = f"{_FLAG} '{text[position:]}' is not a separator and an axis"
            raise UsageError(message, "write x or × between axes")
        position = separator.end()
    count = len(points_of(numbering)) if sum(map(len, numbering.values())) < MAX_POINTS else MAX_POINTS + 1
    if count > MAX_POINTS:
        raise UsageError(f"{_FLAG} more than {MAX_POINTS} meshes", "give fewer sizes")
    return numbering


def _range(text: str) -> Iterator[int]:
    """`8`, or the powers of two in `1..64`, and its end."""
    ends = [end.strip() for end in text.split("..")]
    if len(text) > 30 or len(ends) > 2 or not all(map(str.isdecimal, ends)) or int(ends[0]) < 1:
        raise UsageError(f"{_FLAG} '{text.strip()}' is not a size", "sizes are at least 1")
    size, end = int(ends[0]), int(ends[-1])
    if end < size:
        raise UsageError(f"{_FLAG} the range '{text.strip()}' is empty", "write the smaller size first")
    while size <= end:
        yield size
        size *= 2


def check_axes(module: Op, axes: Sequence[str], sizes: str) -> None:
    """Raises DiagnosticError for an axis that the program lacks, located in the text of the `sizes`."""
    known = list(swept_axes(module))
    for axis in axes:
        if axis not in known:
            # Where the name of an axis starts.
            position = 0
            while (match := _AXIS.match(sizes, position)) is not None and match[1] != axis:
                separator = _SEPARATOR.match(sizes, match.end())
                position = match.end() if separator is None else separator.end()
            start = position if match is None else match.start(1)
            source = Source("--mesh-sweep", sizes)
            error = error_at_range(source, start, start + len(axis), f"the program has no mesh axis '{axis}'")
            error.diagnostic.id, error.diagnostic.source = USAGE_ERROR, source
            raise error.help(nearest_or_all(axis, known) if known else _NO_MESH)


@dataclass(frozen=True)
class SweptMesh:
    """The figures of a program on a mesh, of one device.

    If the compiler of the machine was asked, `wire_bytes` and `peak_bytes` are its figures, beside those
    estimated.

    `sizes` are those of the swept axes, `problem` what JAX or a pass has against them. Without figures, it is
    why there are none. `seconds` are None without a topology.

    `layouts` are the ways to lay the mesh on a machine, the fastest first: the order of its `axes` that makes
    one, what each axis is `on`, and the `seconds`. `idle` says which devices of the machine the mesh leaves,
    and `slices` on how many it is. `unused` are the axes of several devices along which nothing is sharded.
    """

    sizes: dict[str, int]
    problem: str = ""
    devices: int | None = None
    wire_bytes: int | None = None
    peak_bytes: int | None = None
    flops: int | None = None
    useful_share: float | None = None
    seconds: float | None = None
    layouts: Sequence[dict[str, Any]] = ()
    estimated_wire_bytes: int | None = None
    estimated_peak_bytes: int | None = None
    idle: str = ""
    slices: int = 1
    unused: Sequence[str] = ()


@dataclass(frozen=True)
class Sweep:
    """The rows of a sweep, in the order of its points, and the memory of a device, if that is given.

    `title` is the name of the program, `topology` that of the topology, "" without one.
    """

    rows: list[SweptMesh]
    device_memory: int | None
    title: str = ""
    topology: str = ""

    def fits(self, row: SweptMesh) -> bool:
        """Whether the program can run on a mesh, as far as is known."""
        if row.problem or row.peak_bytes is None:
            return False
        return self.device_memory is None or row.peak_bytes <= self.device_memory

    @property
    def has_times(self) -> bool:
        """Whether times are estimated."""
        return any(row.seconds for row in self.rows)

    @property
    def leaves_idle(self) -> bool:
        """Whether several meshes leave devices of the machine idle."""
        return sum(bool(row.idle) for row in self.rows) > 1

    @property
    def is_compiled(self) -> bool:
        """Whether the compiler of the machine was asked."""
        return any(row.estimated_peak_bytes is not None for row in self.rows)

    @property
    def best(self) -> list[SweptMesh]:
        """For each number of devices, the mesh that fits and takes the least time.

        Without times, it is the one that sends least. Axes along which nothing is sharded only add devices.
        """
        swept_meshes_by_number: dict[int, SweptMesh] = {}
        fitting = list(filter(self.fits, self.rows))
        for row in [row for row in fitting if not row.unused] or fitting:
            devices = row.devices or 0
            if devices not in swept_meshes_by_number or _cost(row) < _cost(swept_meshes_by_number[devices]):
                swept_meshes_by_number[devices] = row
        return [swept_meshes_by_number[devices] for devices in sorted(swept_meshes_by_number)]

    def sizes_texts(self, size: int | None, estimated: int | None) -> list[str]:
        """The text of a size and, if compilers were asked, of what was estimated; empty if it is unknown."""
        sizes = (size, estimated) if self.is_compiled else (size,)
        return ["" if size is None else bytes_text(size) for size in sizes]

    def best_lines(self) -> Iterator[str]:
        """The best meshes again, one below the other: in a long table, they are far apart."""
        best = self.best
        if len(best) < _SEVERAL:
            return
        sizes = [" × ".join(f"{axis}={size}" for axis, size in row.sizes.items()) for row in best]
        works = [
            flops_text(row.flops) if row.seconds is None else seconds_text(Fraction(row.seconds))
            for row in best
        ]
        for row, size, work in zip(best, sizes, works, strict=True):
            sent, memory = bytes_text(row.wire_bytes or 0), bytes_text(row.peak_bytes or 0)
            devices = f"{row.devices} devices".rjust(len(f"{best[-1].devices} devices"))
            cells = devices, size.ljust(max(map(len, sizes))), work.rjust(max(map(len, works)))
            slices = f", on {row.slices} slices" if row.slices > 1 else ""
            yield _GAP + _GAP.join([*cells, f"{sent} sent, {memory}{slices}"])

    def layout_lines(self, width: int) -> list[str]:
        lines = []
        for title, rows in layout_tables(self):
            lines += ["", *_folded(title, width, "", _GAP)]
            widths = [max(len(row[number]) for row in rows) for number in (0, 1)]
            for time, axes, on in rows:
                start = f"{_GAP}{time.rjust(widths[0])}{_GAP}{axes.ljust(widths[1])}{_GAP}"
                is_beside = len(start) + len(on) <= width
                below = [start.rstrip(), *_folded(on, width, _BELOW, _BELOW)]
                lines += [f"{start}{on}".rstrip()] if is_beside else below
        return lines


def _cost(row: SweptMesh) -> tuple[float, int, int]:
    return row.seconds or 0, row.wire_bytes or 0, row.peak_bytes or 0


def memory_of(memory: int | None, speeds: TextFile | None) -> int | None:
    """The bytes of a device: `memory`, by default that of the topology.

    Raises DiagnosticError for a malformed topology.
    """
    topology = None if speeds is None else read_topology(*speeds)
    if memory is None and topology is not None and topology.memory is not None:
        return int(topology.memory)
    return memory


def run_sweep(request: Mapping[str, Any], axes: Mapping[str, Sequence[int]], memory: int | None) -> Sweep:
    """The sweep over all sizes of axes, in as many processes as there are cores."""
    points = points_of(axes)
    count = min(len(points), os.cpu_count() or 1)
    # Larger meshes take longer, so each process gets every nth of them.
    parts = [{**request, "points": points[number::count]} for number in range(count)]
    try:
        rows = _in_processes(parts) if count > 1 else list(rows_of(parts[0]))
    except (OSError, NotImplementedError):  # there are no processes, as in a browser
        rows = [row for part in parts for row in rows_of(part)]
    by_sizes = {tuple(row["sizes"].items()): row for row in rows}
    missing = {"problem": "the process for this mesh ended"}
    result = [by_sizes.get(tuple(point.items()), {"sizes": point, **missing}) for point in points]
    topology = request["topology"]
    return Sweep(
        [SweptMesh(**row) for row in result], memory, request["name"], topology[0] if topology else ""
    )


def _in_processes(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    running = []
    for part in parts:
        process = started("sdyopt.analysis.mesh_sweep.points")
        assert process.stdin is not None
        process.stdin.write(json.dumps(part).encode())
        process.stdin.close()
        process.stdin = None
        running.append(process)
    rows = []
    for process in running:
        output, _ = process.communicate()
        rows += [json.loads(line) for line in output.splitlines()]
    return rows


# --- Text -------------------------------------------------------------------------------------------


def sweep_table(sweep: Sweep, bar_size: int = _BAR) -> list[tuple[str, ...]]:
    """The table as text, with its header and bars of at most so many columns."""
    first, has_time = sweep.rows[0].sizes, sweep.has_times
    peaks = max((row.peak_bytes or 0 for row in sweep.rows), default=1)
    sizes_of = ("sent", "estimated", "memory", "estimated") if sweep.is_compiled else ("sent", "memory")
    table = [(*first, "devices", "time" if has_time else "FLOPs", *sizes_of, "", "")]
    for row in sweep.rows:
        sizes = tuple(str(size) for size in row.sizes.values())
        if row.peak_bytes is None:
            table.append((*sizes, *[""] * (len(table[0]) - len(sizes) - 1), row.problem))
            continue
        work = flops_text(row.flops) if row.seconds is None else seconds_text(Fraction(row.seconds))
        if not has_time and row.useful_share is not None and row.useful_share < 1:
            work += f", {share_text(Fraction(row.useful_share))} useful"
        bar = "█" * (bar_size and max(round(bar_size * row.peak_bytes / (peaks or 1)), 1))
        cells = (
            str(row.devices),
            work,
            *sweep.sizes_texts(row.wire_bytes, row.estimated_wire_bytes),
            *sweep.sizes_texts(row.peak_bytes, row.estimated_peak_bytes),
            bar,
            note_of(sweep, row),
        )
        table.append((*sizes, *cells))
    return table


def note_of(sweep: Sweep, row: SweptMesh) -> str:
    """`best of 8`, or what keeps a program from running on a mesh; "" for other meshes."""
    best = sweep.best
    if row in best:
        note = "best" if len(best) == 1 else f"best of {row.devices}"
    else:
        note = row.problem or ("" if sweep.fits(row) else "does not fit")
    listed = " and ".join(f'"{axis}"' for axis in row.unused)
    unused = f"nothing is sharded along {listed}" if listed else ""
    slices = f"{row.slices} slices" if row.slices > 1 else ""
    # What most meshes leave idle is said once, below the table.
    return "; ".join(filter(None, (note, unused, slices, "" if sweep.leaves_idle else row.idle)))


def sweep_text(sweep: Sweep, width: int = 100) -> str:
    """The table for a terminal, in lines of at most `width` columns.

    Bars are shorter if there is no room for them. What does not fit beside the figures is below them.
    """
    table = sweep_table(sweep)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)][:-2]
    notes = max((len(row[-1]) for row in table if row[-2]), default=0)
    room = width - sum(widths) - len(_GAP) * (len(widths) + 1)
    # A long note is rather below the figures than without a bar.
    size = min(_BAR, room - (notes if room - notes >= _LEAST_BAR else min(notes, _LEAST_NOTE)))
    if size < _BAR:
        table = sweep_table(sweep, size if size >= _LEAST_BAR else 0)
    longest = max(len(row[-2]) for row in table)
    lines = []
    for *cells, bar, note in [table[0], *compress(table[1:], _shown(sweep))]:
        cells = [cell.rjust(of_column) for cell, of_column in zip(cells, widths, strict=True)]
        beside = _GAP.join([*cells, *([bar.ljust(longest)] if longest else []), note]).rstrip()
        if len(beside) > width and not bar:
            # There are no figures.
            beside = f"{_GAP.join(cells).rstrip()}{_GAP}{note}"
        below = [_GAP.join([*cells, bar]).rstrip(), *_folded(note, width, _BELOW, _BELOW)]
        lines += [beside] if len(beside) <= width else below
    best = _folded(best_text(sweep), width, "", _GAP)
    return "\n".join([*lines, "", *best, *sweep.best_lines(), *sweep.layout_lines(width)]) + "\n"


def _shown(sweep: Sweep) -> list[bool]:
    """Whether each row is shown; those that a shard_map excludes are said once if they are several."""
    fixed = [FIXED in row.problem for row in sweep.rows]
    return [not is_fixed or sum(fixed) < _SEVERAL or all(fixed) for is_fixed in fixed]


def _folded(text: str, width: int, first: str, further: str) -> list[str]:
    """A text in lines that start so."""
    return wrap(text, width, initial_indent=first, subsequent_indent=further, break_on_hyphens=False)


# So many best meshes are listed below the table.
_SEVERAL = 2
# Layouts whose times differ by less are equal.
_EQUAL = 1.005


def layout_tables(sweep: Sweep) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """The layouts of the best meshes on the machine, if the time depends on them.

    For each mesh a title, and of each layout the time, the order of the axes and what they are on.
    """
    tables = []
    for row in sweep.best:
        times = [layout["seconds"] for layout in row.layouts]
        if not times or max(times) <= min(times) * _EQUAL:
            continue
        sizes = " × ".join(f"{axis}={size}" for axis, size in row.sizes.items())
        lines = []
        for layout in row.layouts:
            axes = ", ".join(layout["axes"]) + (" (as it is)" if layout["seconds"] == row.seconds else "")
            on = "; ".join(f"{axis} on {text}" for axis, text in layout["on"].items() if text)
            lines.append((seconds_text(Fraction(layout["seconds"])), axes, on))
        tables.append((f"layouts of {sizes}, by the order of the axes of the mesh", lines))
    return tables


def best_text(sweep: Sweep) -> str:
    """The figures by which the best meshes are the best."""
    by = "least estimated time" if sweep.has_times else "fewest bytes sent"
    if sweep.device_memory is not None:
        by = f"fits in {bytes_text(sweep.device_memory)}, {by}"
    text = f"best: {by}, for each number of devices; global shapes are the same"
    if not sweep.best:
        problems = list(dict.fromkeys(row.problem for row in sweep.rows if row.problem))
        why = problems[0] if len(problems) == 1 else "the last column says why"
        text = "no mesh of these can run the program: "
        is_full = not problems and sweep.device_memory is not None
        text += f"none fits in {bytes_text(sweep.device_memory or 0)}" if is_full else why
    elif sweep.has_times:
        text += "; times are without overlap of communication and compute: --check has their range"
    if sweep.leaves_idle:
        text += f"; other devices of {sweep.topology} are idle"
    fixed = [row.problem for row in sweep.rows if FIXED in row.problem]
    if fixed and sweep.best:
        left_out = f"{len(fixed)} meshes are left out, as " if len(fixed) >= _SEVERAL else ""
        text += f"; {left_out}{fixed[0]}: lower the program in JAX for each mesh"
    return text + (
        "; sent and memory are as compiled, and times are of what is sent" if sweep.is_compiled else ""
    )
