"""Budgets: limits on the figures of a report, from a TOML file.

    [total]
    wire_bytes = "64 MiB"        # per device and run of the program
    collectives = 40
    peak_memory = "16 GiB"       # per device
    repeated_flops = "1 GFLOP"   # per device: FLOPs that all devices together compute more than once

    [kinds]                      # wire bytes of all collectives of a kind
    all_gather = "32 MiB"

    [axes]                       # wire bytes of all collectives along an axis
    data = "48 MiB"

    [[rules]]                    # one collective at a time, times its number of runs
    kind = "all_gather"          # any kind if it is left out
    axis = "data"                # any axis
    max_bytes = "64 MiB"
    unless = ["attention.py"]    # no limit where the file or the name stack contains this

Figures are the largest possible where branches differ. A figure that is unknown exceeds nothing and is
reported as a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.diagnostics.location import FileLoc, Location, UnknownLoc
from sdyopt.report.figures import Collective, Report
from sdyopt.report.quantities import BYTES, COUNT, FLOPS, Dimension
from sdyopt.report.toml_file import TomlFile
from sdyopt.report.totals import flop_totals, wire_bytes_of_runs
from sdyopt.report.units import bytes_text, flops_text

# A total that is exceeded names this many of the collectives that contribute most.
CONTRIBUTORS = 3

KINDS = (
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_broadcast",
    "collective_permute",
    "reduce_scatter",
)
_TOTALS = ("wire_bytes", "collectives", "peak_memory", "repeated_flops")
_RULE = ("name", "kind", "axis", "max_bytes", "unless")


@dataclass(frozen=True, slots=True)
class Limit:
    """The most wire bytes of some collectives, in sum or of each one, and where the budget says so."""

    what: str
    most: Fraction
    location: Location
    applies: Callable[[Collective], bool]


@dataclass(frozen=True, slots=True)
class Scalar:
    """The most that one figure of the report may be."""

    what: str
    most: Fraction
    location: Location
    figure: Callable[[Report], Fraction | int | None]
    text: Callable[[Fraction | int | None], str]


class Budget:
    """The limits of a file. Raises DiagnosticError, located in the file, for what is no limit."""

    def __init__(self, name: str, text: str) -> None:
        self._file = TomlFile(name, text)
        values = self._file.values
        self._file.check_keys(list(values), ("total", "kinds", "axes", "rules"), "")
        self.limits: list[Limit] = []
        self.scalars: list[Scalar] = []
        self.rules: list[Limit] = []
        self._read_totals(self._table("total"))
        for kind in (kinds := self._table("kinds")):
            self._file.check_keys([kind], KINDS, "kinds")
            self._add_limit(f"{kind} collectives", kinds[kind], "kinds", kind, _is_of_kind(kind))
        for axis in (axes := self._table("axes")):
            self._add_limit(f'collectives along "{axis}"', axes[axis], "axes", axis, _is_along(axis))
        rules = values.get("rules", [])
        if not isinstance(rules, list):
            raise self._file.error("rules are an array of tables", "rules").help("write [[rules]]")
        for number, rule in enumerate(rules):
            self._read_rule(rule, number)

    def exceeded(self, report: Report) -> Iterator[Diagnostic]:
        """An error for each limit that a report exceeds, and a warning where figures are unknown."""
        for rule in self.rules:
            for each in filter(rule.applies, report.collectives):
                yield from _check_rule(rule, each)
        for limit in self.limits:
            yield from _check_limit(limit, [each for each in report.collectives if limit.applies(each)])
        for scalar in self.scalars:
            figure = scalar.figure(report)
            if figure is not None and figure > scalar.most:
                found, most = scalar.text(figure), scalar.text(scalar.most)
                message = f"{scalar.what}: {found}, over the budget of {most}"
                yield Diagnostic(Severity.ERROR, scalar.location, message)

    # --- Reading ------------------------------------------------------------------------------

    def _table(self, name: str) -> dict[str, Any]:
        found = self._file.values.get(name, {})
        if not isinstance(found, dict):
            raise self._file.error(f"'{name}' is a table", "", name).help(f"write [{name}]")
        return found

    def _read_totals(self, table: dict[str, Any]) -> None:
        self._file.check_keys(list(table), _TOTALS, "total")
        for key, value in table.items():
            if key == "wire_bytes":
                self._add_limit("all collectives", value, "total", key, lambda _: True)
                continue
            figure, dimension, text = _SCALARS[key]
            most = self._file.quantity(value, dimension, "total", key)
            location = self._file.location("total", key)
            self.scalars.append(Scalar(key.replace("_", " "), most, location, figure, text))

    def _add_limit(
        self, what: str, value: object, table: str, key: str, applies: Callable[[Collective], bool]
    ) -> None:
        most = self._file.quantity(value, BYTES, table, key)
        self.limits.append(Limit(what, most, self._file.location(table, key), applies))

    def _read_rule(self, rule: object, number: int) -> None:
        if not isinstance(rule, dict):
            raise self._file.error("a rule is a table", "rules", number=number).help("write [[rules]]")
        self._file.check_keys(list(rule), _RULE, "rules", number)
        if "max_bytes" not in rule:
            raise self._file.error("a rule needs max_bytes", "rules", number=number)
        kind, axis, unless = rule.get("kind"), rule.get("axis"), rule.get("unless", [])
        for key, value in (("kind", kind), ("axis", axis), ("name", rule.get("name"))):
            if value is not None and not isinstance(value, str):
                raise self._file.error(f"'{key}' is a string", "rules", key, number)
        if not isinstance(unless, list) or not all(isinstance(part, str) for part in unless):
            raise self._file.error("'unless' is a list of strings", "rules", "unless", number)
        if kind is not None and kind not in KINDS:
            error = self._file.error(f"unknown kind '{kind}'", "rules", "kind", number)
            raise error.help(f"choose from {', '.join(KINDS)}")
        most = self._file.quantity(rule["max_bytes"], BYTES, "rules", "max_bytes", number)

        def applies(each: Collective) -> bool:
            where = f"{each.location.file} {each.location.name_stack}"
            return (
                (kind is None or each.kind == kind)
                and (axis is None or axis in each.axis_names)
                and not any(part in where for part in unless)
            )

        name = rule.get("name") or " ".join(
            ["a single", kind or "collective", *([f'along "{axis}"'] if axis else [])]
        )
        self.rules.append(Limit(name, most, self._file.location("rules", "max_bytes", number), applies))


def collective_location(each: Collective) -> Location:
    """Where a diagnostic about a collective stands: its line in the user's program."""
    if not each.location.line:
        return UnknownLoc()
    return FileLoc(each.location.file, each.location.line, each.location.column)


def collective_text(each: Collective) -> str:
    """`all_reduce {"data"} of tensor<8x128xf32>: 1.00 MiB`, with the number of runs if there are several."""
    runs = "" if each.times is None or each.times.high == 1 else f" in {each.times.high} runs"
    types = ", ".join(each.local_operands)
    return f"{each.kind} {each.axes} of {types}: {bytes_text(wire_bytes_of_runs(each))}{runs}"


# --- Checking -----------------------------------------------------------------------------------------


def _check_rule(rule: Limit, each: Collective) -> Iterator[Diagnostic]:
    size = wire_bytes_of_runs(each)
    if size is None:
        message = f"{each.kind} {each.axes} runs an unknown number of times or has no known size"
        yield Diagnostic(Severity.WARNING, collective_location(each), message)
    elif size > rule.most:
        error = DiagnosticError.at(
            collective_location(each),
            f"{collective_text(each)}, over the budget of {bytes_text(rule.most)} for {rule.what}",
        )
        yield error.note(f"cause: {each.cause}").note("limit set here", rule.location).diagnostic


def _check_limit(limit: Limit, collectives: Sequence[Collective]) -> Iterator[Diagnostic]:
    sizes = [(wire_bytes_of_runs(each), each) for each in collectives]
    known = [(size, each) for size, each in sizes if size is not None]
    total = sum((size for size, _ in known), Fraction(0))
    if len(known) < len(sizes):
        message = f"{len(sizes) - len(known)} of {limit.what} have unknown bytes and are not counted"
        yield Diagnostic(Severity.WARNING, limit.location, message)
    if total > limit.most:
        message = (
            f"{limit.what}: {bytes_text(total)} on the wire, over the budget of {bytes_text(limit.most)}"
        )
        error = DiagnosticError.at(limit.location, message)
        for _, each in sorted(known, key=lambda pair: (-pair[0], pair[1].number))[:CONTRIBUTORS]:
            error.note(f"{collective_text(each)}; {each.cause}", collective_location(each))
        yield error.diagnostic


def _is_of_kind(kind: str) -> Callable[[Collective], bool]:
    return lambda each: each.kind == kind


def _is_along(axis: str) -> Callable[[Collective], bool]:
    return lambda each: axis in each.axis_names


def _repeated_flops(report: Report) -> Fraction | None:
    """FLOPs per device beyond an equal share of the global ones; None where figures are unknown."""
    local, whole = flop_totals(report)
    return None if local.unknown or whole.unknown else local.high - whole.high / report.devices


_SCALARS: dict[
    str,
    tuple[
        Callable[[Report], Fraction | int | None],
        Dimension,
        Callable[[Fraction | int | None], str],
    ],
] = {
    "collectives": (lambda report: len(report.collectives), COUNT, str),
    "peak_memory": (lambda report: report.memory.peak, BYTES, bytes_text),
    "repeated_flops": (_repeated_flops, FLOPS, flops_text),
}
