"""The data of the page of a report, from which its script makes tables and charts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from sdyopt.analysis.figures.figures import (
    COPY,
    Collective,
    LiveGroup,
    Product,
    Report,
    RunTimes,
    TimedCollective,
    TimedProduct,
    Timeline,
)
from sdyopt.analysis.figures.source_locations import Phase, SourceLocation, is_in_library
from sdyopt.analysis.figures.totals import Total, along, seconds_of_runs, wire_bytes_of_runs
from sdyopt.analysis.figures.units import HOISTED, times_text
from sdyopt.analysis.interface.pages.page import Page, Strings
from sdyopt.analysis.report.check.check_text import reason_of
from sdyopt.analysis.report.check.checker import PlaceCollectives
from sdyopt.analysis.report.communication import ALL_GROUPINGS, PHASES
from sdyopt.analysis.report.json_report import number
from sdyopt.analysis.report.sections import product_text, sharers_of
from sdyopt.mlir.value_names import pattern_of
from sdyopt.shardy.notation.partition_spec import jax_type, specs_of

_SHARDING = re.compile(r"<@[^,<>]+, (\[[^\[\]?]*\])(?:, unreduced=\{([^{}]*)\})?>")
_NAME = re.compile(r"\s*(%[\w$.-]+(?:#\d+)?)")


class _Rows:
    """Rows of data: `fields` are their names, and `texts` those whose values are numbers of strings."""

    def __init__(self, strings: Strings, stacks: _Stacks, has_phases: bool) -> None:
        self.strings, self.stacks, self.has_phases = strings, stacks, has_phases
        self.fields: dict[str, bool] = {}
        self.rows: list[list[object]] = []

    def add(self, location: SourceLocation, **values: str | float | bool | None) -> None:
        """Adds a row with its fields, and those of its location."""
        values |= {"phase": PHASES[location.phase] if self.has_phases else "", "file": location.file}
        self.fields = {name: isinstance(value, str) for name, value in values.items()} | {
            "at": False,
            "stack": False,
        }
        row: list[object] = [
            self.strings(value) if isinstance(value, str) else value for value in values.values()
        ]
        self.rows.append([*row, location.line, self.stacks.number(location)])

    def data(self) -> dict[str, object]:
        """The rows as JSON."""
        texts = [name for name, is_text in self.fields.items() if is_text]
        return {"fields": list(self.fields), "texts": texts, "rows": self.rows}


class _Stacks:
    """The call stacks of locations: `frames` are [file, line, function], `stacks` the numbers of frames."""

    def __init__(self, strings: Strings) -> None:
        self._strings = strings
        self.frames: list[tuple[int, int, int]] = []
        self.stacks: list[list[int]] = []
        self._numbers: dict[object, int] = {}

    def number(self, location: SourceLocation) -> int:
        """The number of a call stack, without the frames in libraries."""
        frames = [frame for frame in location.frames if not is_in_library(frame)]
        key = tuple([(frame.file, frame.line, frame.function) for frame in frames])
        if key not in self._numbers:
            self._numbers[key] = len(self.stacks)
            self.stacks.append([self._frame(*row) for row in key])
        return self._numbers[key]

    def _frame(self, file: str, line: int, function: str) -> int:
        key = self._strings(file), line, self._strings(function)
        if key not in self._numbers:
            self._numbers[key] = len(self.frames)
            self.frames.append(key)
        return self._numbers[key]


def add_figures(page: Page, report: Report, program: str) -> None:
    """The collectives and products as data."""
    strings = Strings()
    stacks = _Stacks(strings)
    locations = [collective.location for collective in report.collectives] + [
        product.location for product in report.products
    ]
    has_phases = any(location.phase is not Phase.UNKNOWN for location in locations)
    collectives, products = _Rows(strings, stacks, has_phases), _Rows(strings, stacks, has_phases)
    seconds = _times(report.time.collectives if report.time else None, report.collectives)
    lines = lines_of(program, report.collectives)
    for collective, time, line in zip(report.collectives, seconds, lines, strict=True):
        size = wire_bytes_of_runs(collective)
        collectives.add(
            collective.location,
            number=collective.number,
            size=_whole(size),
            perIteration=_whole(
                _per_iteration(collective.wire_bytes, collective.times, collective.per_iteration)
            ),
            seconds=time,
            runs=times_text(collective.times, collective.per_iteration),
            kind=collective.kind,
            axes=along(collective.group),
            # A reason that is the same for all layers is one reason.
            why=why_of(collective),
            weights=pattern_of(ALL_GROUPINGS["weight"].text_of(collective)),
            loop=loop_of(collective),
            change=specs_of(collective.change),
            value=collective.value,
            program=line,
            **_groups(collective),
        )
    timed = report.time.products if report.time else [None] * len(report.products)
    sharers = sharers_of(report)
    times = _times(report.time.products if report.time else None, report.products)
    lines = lines_of(program, report.products)
    for product, time, limits, line in zip(report.products, times, timed, lines, strict=True):
        products.add(
            product.location,
            size=None
            if product.flops is None or product.times is None
            else product.flops * product.times.high,
            perIteration=_whole(_per_iteration(product.flops, product.times, product.per_iteration)),
            seconds=time,
            runs=times_text(product.times, product.per_iteration),
            kind=product.kind,
            useful=_useful(report, product),
            spare=", ".join(f'"{axis}"' for axis in product.spare_axes) if report.is_sharded else "",
            limit="" if limits is None else limits.limit,
            # The time of its collectives, and these with the number of products that need them.
            communication=None
            if limits is None or limits.communication is None
            else number(limits.communication),
            needs=" ".join(f"{collective}:{sharers[collective]}" for collective in product.collectives),
            shown=product_text(product),
            bound="communication-bound" if limits is not None and limits.is_communication_bound else "",
            value=product.value,
            program=line,
            **_groups(product),
        )
    page.add_data("collectives", collectives.data())
    page.add_data("products", products.data())
    page.add_data("frames", stacks.frames)
    page.add_data("stacks", stacks.stacks)
    page.add_data("strings", strings.all)


def why_of(collective: Collective) -> str:
    """The reason for a collective of any layer, with shardings as JAX writes them."""
    reason = reason_of(
        PlaceCollectives(collective, Total(2), [pattern_of(collective.moved or collective.updated)])
    )
    conflict = collective.cause.partition(" this sharding")[2].partition(": ")[2] if collective.change else ""
    text = f"{reason}, because {conflict}" if conflict else reason
    return f"{text}; {HOISTED}" if collective.is_hoisted else text


def loop_of(collective: Collective) -> str:
    """The loop that a collective is in."""
    if collective.loop is None:
        return "in no loop"
    return f"loop at {collective.loop.file_text}" if collective.loop.line else "in a loop"


def _groups(collective: Collective | Product) -> dict[str, str]:
    """The tabs of the page: the groupings of a report."""
    names = [name for name in ALL_GROUPINGS if name != "weight" or isinstance(collective, Collective)]
    return {name: ALL_GROUPINGS[name].text_of(collective) for name in names}


def _times(
    timed: Sequence[TimedCollective | TimedProduct] | None, operations: Sequence[Collective | Product]
) -> list[float | None]:
    """The estimated seconds of all runs of operations."""
    if timed is None:
        return [None] * len(operations)
    secondses = [
        seconds_of_runs(time.seconds, collective.times)
        for time, collective in zip(timed, operations, strict=True)
    ]
    return [None if amount is None else number(amount) for amount in secondses]


def _per_iteration(
    figure: Fraction | int | None, times: RunTimes | None, per_iteration: RunTimes | None
) -> Fraction | int | None:
    """The figure in one iteration of the loops of unknown trip count; None if there are none."""
    if figure is None or times is not None or per_iteration is None:
        return None
    return figure * per_iteration.high


def _whole(size: Fraction | int | None) -> int | None:
    return None if size is None else round(size)


def _useful(report: Report, product: Product) -> float | None:
    if not report.is_sharded or not product.flops or product.global_flops is None:
        return None
    return float(Fraction(product.global_flops, product.flops * report.devices))


def live_data(timeline: Timeline, memory: int | None) -> dict[str, object]:
    """The live values at each point: bytes, their number, the line, and the largest groups of values."""
    strings = Strings()
    phases = [point.location.phase for point in timeline.points]
    names = [""] * len(phases) if set(phases) <= {Phase.UNKNOWN} else [PHASES[phase] for phase in phases]
    return {
        "points": [
            [point.bytes, count, strings(point.location.file_text), strings(phase)]
            for point, count, phase in zip(timeline.points, timeline.counts, names, strict=True)
        ],
        "groups": [
            [
                strings(_live_name(group)),
                strings(jax_type(group.type)),
                strings(spec_of(group.sharding)),
                strings(group.location.file_text),
                group.changes,
            ]
            for group in timeline.groups
        ],
        "strings": strings.all,
        "memory": memory,
    }


def _live_name(group: LiveGroup) -> str:
    """`argument params['w']`; of a copy, that of the argument."""
    what = group.what or group.role
    if group.role == COPY and group.name:
        return what.replace("an argument", group.name).replace("gathered argument", f"gathered {group.name}")
    return f"{what} {group.name}".rstrip()


def spec_of(sharding: str) -> str:
    """`P('x')` for `<@mesh, [{"x"}, {}]>`, and else the sharding."""
    result = _SHARDING.fullmatch(sharding)
    if result is None:
        return sharding
    unreduced = f"unreduced={{{result[2]}}}".replace('"', "'") if result[2] else ""
    return f"P({', '.join(filter(None, (specs_of(result[1])[2:-1], unreduced)))})"


def boundary_data(report: Report) -> dict[str, object]:
    """The arguments and results as data."""
    boundary, strings = report.boundary(), Strings()
    rows = [
        [
            *(
                strings(kind),
                strings(value.name),
                strings(pattern_of(value.name)),
                strings(jax_type(value.type)),
            ),
            # What has no sharding is on each device.
            *(strings(spec_of(value.sharding) or "P()"), value.bytes),
            *("" if value.replicas is None else value.replicas, value.is_donated),
        ]
        for kind, values in (("argument", boundary.arguments), ("result", boundary.results))
        for value in values
    ]
    return {"rows": rows, "strings": strings.all, "devices": report.devices}


def files_of(report: Report) -> Iterator[str]:
    """The files of the program's lines."""
    collectives = [collective.location for collective in report.collectives]
    for location in dict.fromkeys([*collectives, *(product.location for product in report.products)]):
        yield location.file
        yield from (frame.file for frame in location.frames if not is_in_library(frame))


def lines_of(program: str, operations: Sequence[Collective | Product]) -> list[int]:
    """The line of each operation in the printed program, counted from 1; 0 if it is not found.

    Both are in the same order.
    """
    numbers: list[int] = []
    for position, line in enumerate(program.split("\n"), 1):
        if len(numbers) == len(operations):
            break
        operation = operations[len(numbers)]
        if f".{operation.kind}" not in line or (name := _NAME.match(line)) is None:
            continue
        if name[1].partition("#")[0] == operation.value.partition("#")[0]:
            numbers.append(position)
    return numbers + [0] * (len(operations) - len(numbers))
