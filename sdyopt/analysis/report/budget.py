"""Budgets: limits on the figures of a report, from a TOML file, and errors where figures are too large.

    [total]
    wire_bytes = "64 MiB"        # per device and run of the program
    collectives = 40
    peak_memory = "16 GiB"       # per device
    repeated_flops = "1 GFLOP"   # per device: FLOPs beyond an equal share of the global FLOPs
    time = "10 ms"               # of one run on the machine of --topology, if nothing overlaps

    [kinds]                      # wire bytes of all collectives of a kind
    all_gather = "32 MiB"

    [axes]                       # wire bytes of all collectives along an axis
    data = "48 MiB"

    [[rules]]                    # each collective by itself, over all of its runs
    name = "gathered weights"    # names the rule in messages; may be left out
    kind = "all_gather"          # any kind if it is left out
    axis = "data"                # any axis if it is left out
    max_bytes = "64 MiB"
    unless = ["attention.py"]    # no limit where the file or the name stack contains one of these

Figures are the largest possible where branches differ. An unknown figure with a limit is an error, or a
warning if unknown figures are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.located_files import TomlFile
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.figures.totals import (
    flop_totals,
    seconds_of_runs,
    time_range,
    time_totals,
    wire_bytes_of_runs,
)
from sdyopt.analysis.figures.units import (
    BYTES,
    COUNT,
    FLOPS,
    SECONDS,
    Dimension,
    bytes_text,
    flops_text,
    seconds_text,
)
from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.base.diagnostics.ids import BUDGET_UNKNOWN
from sdyopt.base.diagnostics.location import FileLoc, Location, UnknownLoc

_SET_HERE = "limit set here"


@dataclass(frozen=True, slots=True)
class BudgetLimit:
    """A limit, located in the budget, on the wire bytes of some collectives: on their sum or on each."""

    what: str
    most: Fraction
    location: Location
    applies: Callable[[Collective], bool]

    def check_each(self, report: Report, allow_unknown: bool) -> Iterator[Diagnostic]:
        """A diagnostic for each collective that exceeds the limit or has unknown bytes."""
        for collective in filter(self.applies, report.collectives):
            size = wire_bytes_of_runs(collective)
            if size is None:
                what = f"{collective.kind} {collective.axes}"
                message = f"{what} runs an unknown number of times or has no known size"
                yield _unknown(message, file_location(collective.location), report, allow_unknown)
            elif size > self.most:
                most = bytes_text(self.most)
                message = f"{_collective_text(collective)}, over the budget of {most} for {self.what}"
                cause = Contributor(f"cause: {collective.cause}", collective.location)
                yield finding(message, [cause], self.location, _SET_HERE).diagnostic

    def check_sum(self, report: Report, allow_unknown: bool) -> Iterator[Diagnostic]:
        """A diagnostic if the sum of the known bytes exceeds the limit, and if some are unknown."""
        chosen = list(filter(self.applies, report.collectives))
        known = [collective for collective in chosen if wire_bytes_of_runs(collective) is not None]
        total = sum((wire_bytes_of_runs(collective) or Fraction(0) for collective in known), Fraction(0))
        if len(known) < len(chosen):
            message = f"{len(chosen) - len(known)} of {self.what} have unknown bytes and are not counted"
            yield _unknown(message, self.location, report, allow_unknown)
        if total > self.most:
            most = bytes_text(self.most)
            message = f"{self.what}: {bytes_text(total)} on the wire, over the budget of {most}"
            yield finding(message, _largest(known), self.location, _SET_HERE).diagnostic


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report: its value, which is None if unknown, and what contributes most to it."""

    name: str
    dimension: Dimension
    value: Callable[[Report], Fraction | int | None]
    text: Callable[[Fraction | int | None], str]
    contributors: Callable[[Report], Sequence[Contributor]]
    help: Callable[[Report], str] = lambda _: ""


@dataclass(frozen=True, slots=True)
class FigureLimit:
    """A limit on one figure of the report, located in the budget."""

    most: Fraction
    location: Location
    figure: Figure

    def check(self, report: Report, allow_unknown: bool) -> Iterator[Diagnostic]:
        """A diagnostic if the figure exceeds the limit, or is unknown."""
        value = self.figure.value(report)
        if value is None:
            message = f"{self.figure.name}: unknown, and not checked"
            yield _unknown(message, self.location, report, allow_unknown, self.figure.help(report))
        elif value > self.most:
            name, most = self.figure.text(value), self.figure.text(self.most)
            message = f"{self.figure.name}: {name}, over the budget of {most}"
            yield finding(message, self.figure.contributors(report), self.location, _SET_HERE).diagnostic


def _unknown(
    message: str, location: Location, report: Report, is_allowed: bool, help: str = ""
) -> Diagnostic:
    """A diagnostic about an unknown figure: a warning if these are allowed, else an error."""
    severity = Severity.WARNING if is_allowed else Severity.ERROR
    diagnostic = Diagnostic(severity, location, message, id=BUDGET_UNKNOWN)
    if not is_allowed:
        lines = [unknown_loop.line for unknown_loop in report.unknown_loops if unknown_loop.line]
        trips = f"give the trip count of the loop with --assume-trips={lines[0]}=N" if lines else ""
        first = f"{help or trips}, or " if help or trips else ""
        diagnostic.help = f"{first}allow unknown figures with --budget-allow-unknown"
    return diagnostic


def _collective_text(collective: Collective) -> str:
    """`all_reduce {"data"} of tensor<8x128xf32>: 1.00 MiB`, with the number of runs unless it is 1."""
    runs = (
        "" if collective.times is None or collective.times.high == 1 else f" in {collective.times.high} runs"
    )
    types = ", ".join(collective.local_operands)
    return (
        f"{collective.kind} {collective.axes} of {types}: {bytes_text(wire_bytes_of_runs(collective))}{runs}"
    )


def _largest(collectives: Sequence[Collective]) -> list[Contributor]:
    """The collectives that contribute most; those with the same kind, axes and line count together."""
    groups: dict[tuple[object, ...], list[Collective]] = {}
    for collective in collectives:
        groups.setdefault(
            (collective.kind, collective.group, collective.location.file, collective.location.line), []
        ).append(collective)
    sums = [
        (
            sum((wire_bytes_of_runs(collective) or Fraction(0) for collective in together), Fraction(0)),
            together,
        )
        for together in groups.values()
    ]
    ranked = sorted(sums, key=lambda entry: (-entry[0], entry[1][0].number))[:MAX_CONTRIBUTORS]
    return [_contributor(size, together) for size, together in ranked]


def _contributor(size: Fraction, together: Sequence[Collective]) -> Contributor:
    first = together[0]
    if len(together) == 1:
        return Contributor(_collective_text(first), first.location, first.cause)
    what = f"{len(together)} × {first.kind} {first.axes}: {bytes_text(size)}"
    return Contributor(what, first.location, first.cause)


def _live(report: Report) -> list[Contributor]:
    """The peak, and the largest values that are live at it."""
    values = [
        Contributor(
            f"{live.value} of {live.type}: {bytes_text(live.bytes)}"
            + ("" if live.replicas is None else f", on {live.replicas} devices"),
            live.location,
        )
        for live in report.memory.live_at_peak[:MAX_CONTRIBUTORS]
    ]
    return [Contributor("the peak is here", report.memory.peak_location), *values]


def _repeated_flops(report: Report) -> Fraction | None:
    """FLOPs per device beyond an equal share of the global FLOPs; None if any of them are unknown."""
    local, whole = flop_totals(report)
    is_unknown = local.unknown or whole.unknown or not report.is_sharded
    return None if is_unknown else local.high - whole.high / report.devices


def _repeating(report: Report) -> list[Contributor]:
    """The products with the most repeated FLOPs."""
    repeated = [
        (product, (product.flops - Fraction(product.global_flops, report.devices)) * product.times.high)
        for product in report.products
        if product.flops is not None and product.global_flops is not None and product.times is not None
    ]
    ranked = sorted(repeated, key=lambda pair: -pair[1])[:MAX_CONTRIBUTORS]
    return [
        Contributor(f"{product.kind} {product.value}: {flops_text(size)} repeated", product.location)
        for product, size in ranked
        if size
    ]


def _seconds(report: Report) -> Fraction | None:
    """The longest that one run may take; None if the time of a collective or a product is unknown."""
    if report.time is None or report.time.elementwise is None:
        return None
    is_unknown = any(total.unknown for total in time_totals(report, report.time))
    return None if is_unknown else time_range(report, report.time)[1]


def _without_time(report: Report) -> str:
    """What gives a report times, if it has none."""
    return "" if report.time is not None else "name a machine with --topology, such as tpu-v5e:4x4"


def _longest(report: Report) -> list[Contributor]:
    """The collectives and products that take longest."""
    if report.time is None:
        return []
    runs = [
        *(
            (
                seconds_of_runs(timed.seconds, collective.times),
                f"{collective.kind} {collective.axes}",
                collective.location,
            )
            for collective, timed in zip(report.collectives, report.time.collectives, strict=True)
        ),
        *(
            (
                seconds_of_runs(timed.seconds, product.times),
                f"{product.kind} {product.value}",
                product.location,
            )
            for product, timed in zip(report.products, report.time.products, strict=True)
        ),
    ]
    ranked = sorted(runs, key=lambda entry: -(entry[0] or 0))[:MAX_CONTRIBUTORS]
    return [Contributor(f"{what}: {seconds_text(time)}", where) for time, what, where in ranked if time]


# The figures that [total] limits, besides wire_bytes.
FIGURES = {
    "collectives": Figure(
        "collectives",
        COUNT,
        lambda report: len(report.collectives),
        str,
        lambda report: _largest(report.collectives),
    ),
    "peak_memory": Figure("peak memory", BYTES, lambda report: report.memory.peak, bytes_text, _live),
    "repeated_flops": Figure("repeated FLOPs", FLOPS, _repeated_flops, flops_text, _repeating),
    "time": Figure(
        "time if nothing overlaps",
        SECONDS,
        _seconds,
        lambda seconds: seconds_text(Fraction(seconds or 0)),
        _longest,
        _without_time,
    ),
}

KINDS = (
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_broadcast",
    "collective_permute",
    "collective_reduce",
    "cross-replica-sum",
    "reduce_scatter",
)
_TOTALS = ("wire_bytes", *FIGURES)
_RULE = ("name", "kind", "axis", "max_bytes", "unless")


class Budget:
    """The limits of a file. Raises DiagnosticError, located in the file, for anything else in it."""

    def __init__(self, name: str, text: str) -> None:
        self._file = TomlFile(name, text)
        values = self._file.values
        self._file.check_keys(list(values), ("total", "kinds", "axes", "rules"), "")
        self.limits: list[BudgetLimit] = []
        self.figure_limits: list[FigureLimit] = []
        self.rules: list[BudgetLimit] = []
        self._read_totals(self._table("total"))
        for kind in (kinds := self._table("kinds")):
            self._file.check_keys([kind], KINDS, "kinds")
            self._add_limit(f"{kind} collectives", kinds[kind], "kinds", kind, _is_of_kind(kind))
        for axis in (axes := self._table("axes")):
            self._add_limit(f'collectives along "{axis}"', axes[axis], "axes", axis, _is_along(axis))
        rules = values.get("rules", [])
        if not isinstance(rules, list):
            raise self._file.error("'rules' must be an array of tables", "rules").help("write [[rules]]")
        for number, rule in enumerate(rules):
            self._read_rule(rule, number)

    def exceeded(self, report: Report, allow_unknown: bool = False) -> Iterator[Diagnostic]:
        """An error for each limit that a report exceeds, and for each whose figure is unknown.

        With `allow_unknown`, a warning for each of the latter, which the known part may exceed, too.
        """
        for rule in self.rules:
            yield from rule.check_each(report, allow_unknown)
        for limit in self.limits:
            yield from limit.check_sum(report, allow_unknown)
        for figure_limit in self.figure_limits:
            yield from figure_limit.check(report, allow_unknown)

    # --- Reading ------------------------------------------------------------------------------

    def _table(self, name: str) -> dict[str, Any]:
        value = self._file.values.get(name, {})
        if not isinstance(value, dict):
            raise self._file.error(f"'{name}' must be a table", "", name).help(f"write [{name}]")
        return value

    def _read_totals(self, table: dict[str, Any]) -> None:
        self._file.check_keys(list(table), _TOTALS, "total")
        for key, value in table.items():
            if key == "wire_bytes":
                self._add_limit("all collectives", value, "total", key, lambda _: True)
                continue
            most = self._file.quantity(value, FIGURES[key].dimension, "total", key)
            location = self._file.location("total", key)
            self.figure_limits.append(FigureLimit(most, location, FIGURES[key]))

    def _add_limit(
        self, what: str, value: object, table: str, key: str, applies: Callable[[Collective], bool]
    ) -> None:
        most = self._file.quantity(value, BYTES, table, key)
        self.limits.append(BudgetLimit(what, most, self._file.location(table, key), applies))

    def _read_rule(self, rule: object, number: int) -> None:
        if not isinstance(rule, dict):
            raise self._file.error("a rule must be a table", "rules", number=number).help("write [[rules]]")
        self._file.check_keys(list(rule), _RULE, "rules", number)
        if "max_bytes" not in rule:
            error = self._file.error("a rule needs max_bytes", "rules", number=number)
            raise error.help('write max_bytes = "64 MiB"')
        kind, axis, unless = rule.get("kind"), rule.get("axis"), rule.get("unless", [])
        for key, value in (("kind", kind), ("axis", axis), ("name", rule.get("name"))):
            if value is not None and not isinstance(value, str):
                error = self._file.error(f"'{key}' must be a string", "rules", key, number)
                raise error.help(f'write {key} = "NAME"')
        if not isinstance(unless, list) or not all(isinstance(part, str) for part in unless):
            error = self._file.error("'unless' must be a list of strings", "rules", "unless", number)
            raise error.help('write unless = ["attention.py"]')
        if kind is not None and kind not in KINDS:
            error = self._file.error(f"unknown kind '{kind}'", "rules", "kind", number)
            raise error.help(f"choose from {', '.join(KINDS)}")
        most = self._file.quantity(rule["max_bytes"], BYTES, "rules", "max_bytes", number)

        def applies(collective: Collective) -> bool:
            where = f"{collective.location.file} {collective.location.name_stack}"
            return (
                (kind is None or collective.kind == kind)
                and (axis is None or axis in collective.axis_names)
                and not any(part in where for part in unless)
            )

        name = rule.get("name") or " ".join(
            ["a single", kind or "collective", *([f'along "{axis}"'] if axis else [])]
        )
        self.rules.append(BudgetLimit(name, most, self._file.location("rules", "max_bytes", number), applies))


def _is_of_kind(kind: str) -> Callable[[Collective], bool]:
    return lambda collective: collective.kind == kind


def _is_along(axis: str) -> Callable[[Collective], bool]:
    return lambda collective: axis in collective.axis_names


# An error names at most this many of the operations or values that contribute most.
MAX_CONTRIBUTORS = 3


class Contributor(NamedTuple):
    """An operation or a value that contributes to a figure, in words, with its location and its cause."""

    what: str
    location: SourceLocation
    cause: str = ""


def finding(
    message: str, contributors: Sequence[Contributor], limit: Location, limit_note: str
) -> DiagnosticError:
    """An error at the first contributor that has a line, else at the limit.

    It has a note on each contributor, and `limit_note` at the limit.
    """
    lines = [contributor for contributor in contributors if contributor.location.line]
    error = DiagnosticError.at(file_location(lines[0].location) if lines else limit, message)
    for contributor in contributors:
        text = f"{contributor.what}; {contributor.cause}" if contributor.cause else contributor.what
        # The location of a function argument has a name, but no line.
        name = (
            ""
            if contributor.location.line or not contributor.location.name_stack
            else f"{contributor.location.name_stack}: "
        )
        error.note(name + text, file_location(contributor.location))
    return error.note(limit_note, limit)


def file_location(location: SourceLocation) -> Location:
    """The line of a source location; unknown without one."""
    return FileLoc(location.file, location.line, location.column) if location.line else UnknownLoc()
