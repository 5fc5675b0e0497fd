"""Checks of a report against a budget: errors at what exceeds a limit, and warnings about unknown figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.findings import MAX_CONTRIBUTORS, Contributor, file_location, finding
from sdyopt.analysis.figures.quantities import BYTES, COUNT, FLOPS, Dimension
from sdyopt.analysis.figures.totals import flop_totals, wire_bytes_of_runs
from sdyopt.analysis.figures.units import bytes_text, flops_text
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import BUDGET_UNKNOWN
from sdyopt.base.diagnostics.location import Location

_SET_HERE = "limit set here"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit, located in the budget, on the wire bytes of some collectives: on their sum or on each."""

    what: str
    most: Fraction
    location: Location
    applies: Callable[[Collective], bool]

    def check_each(self, report: Report, allow_unknown: bool) -> Iterator[Diagnostic]:
        """A diagnostic for each collective that exceeds the limit or has unknown bytes."""
        for each in filter(self.applies, report.collectives):
            size = wire_bytes_of_runs(each)
            if size is None:
                message = f"{each.kind} {each.axes} runs an unknown number of times or has no known size"
                yield _unknown(message, file_location(each.location), report, allow_unknown)
            elif size > self.most:
                most = bytes_text(self.most)
                message = f"{_collective_text(each)}, over the budget of {most} for {self.what}"
                cause = Contributor(f"cause: {each.cause}", each.location)
                yield finding(message, [cause], self.location, _SET_HERE).diagnostic

    def check_sum(self, report: Report, allow_unknown: bool) -> Iterator[Diagnostic]:
        """A diagnostic if the sum of the known bytes exceeds the limit, and if some are unknown."""
        chosen = list(filter(self.applies, report.collectives))
        known = [each for each in chosen if wire_bytes_of_runs(each) is not None]
        total = sum((wire_bytes_of_runs(each) or Fraction(0) for each in known), Fraction(0))
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
            yield _unknown(message, self.location, report, allow_unknown)
        elif value > self.most:
            found, most = self.figure.text(value), self.figure.text(self.most)
            message = f"{self.figure.name}: {found}, over the budget of {most}"
            yield finding(message, self.figure.contributors(report), self.location, _SET_HERE).diagnostic


def _unknown(message: str, location: Location, report: Report, is_allowed: bool) -> Diagnostic:
    """A diagnostic about an unknown figure: a warning if these are allowed, else an error."""
    severity = Severity.WARNING if is_allowed else Severity.ERROR
    found = Diagnostic(severity, location, message, id=BUDGET_UNKNOWN)
    if not is_allowed:
        lines = [each.line for each in report.unknown_loops if each.line]
        trips = f"give the trip count of the loop with --assume-trips={lines[0]}=N, or " if lines else ""
        found.help = f"{trips}allow unknown figures with --budget-allow-unknown"
    return found


def _collective_text(each: Collective) -> str:
    """`all_reduce {"data"} of tensor<8x128xf32>: 1.00 MiB`, with the number of runs unless it is 1."""
    runs = "" if each.times is None or each.times.high == 1 else f" in {each.times.high} runs"
    types = ", ".join(each.local_operands)
    return f"{each.kind} {each.axes} of {types}: {bytes_text(wire_bytes_of_runs(each))}{runs}"


def _largest(collectives: Sequence[Collective]) -> list[Contributor]:
    """The collectives that contribute most; those with the same kind, axes and line count together."""
    groups: dict[tuple[object, ...], list[Collective]] = {}
    for each in collectives:
        groups.setdefault((each.kind, each.group, each.location.file, each.location.line), []).append(each)
    sums = [
        (sum((wire_bytes_of_runs(each) or Fraction(0) for each in together), Fraction(0)), together)
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
            f"{each.value} of {each.type}: {bytes_text(each.bytes)}"
            + ("" if each.replicas is None else f", on {each.replicas} devices"),
            each.location,
        )
        for each in report.memory.live_at_peak[:MAX_CONTRIBUTORS]
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
        (each, (each.flops - Fraction(each.global_flops, report.devices)) * each.times.high)
        for each in report.products
        if each.flops is not None and each.global_flops is not None and each.times is not None
    ]
    ranked = sorted(repeated, key=lambda pair: -pair[1])[:MAX_CONTRIBUTORS]
    return [
        Contributor(f"{each.kind} {each.value}: {flops_text(size)} repeated", each.location)
        for each, size in ranked
        if size
    ]


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
}
