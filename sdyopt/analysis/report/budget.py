"""Budgets: limits on the figures of a report, from a TOML file.

    [total]
    wire_bytes = "64 MiB"        # per device and run of the program
    collectives = 40
    peak_memory = "16 GiB"       # per device
    repeated_flops = "1 GFLOP"   # per device: FLOPs beyond an equal share of the global FLOPs

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

from collections.abc import Callable, Iterator
from typing import Any

from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.quantities import BYTES
from sdyopt.analysis.figures.toml_file import TomlFile
from sdyopt.analysis.report.budget_checks import FIGURES, FigureLimit, Limit
from sdyopt.base.diagnostics.diagnostic import Diagnostic

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
        self.limits: list[Limit] = []
        self.figure_limits: list[FigureLimit] = []
        self.rules: list[Limit] = []
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
        found = self._file.values.get(name, {})
        if not isinstance(found, dict):
            raise self._file.error(f"'{name}' must be a table", "", name).help(f"write [{name}]")
        return found

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
        self.limits.append(Limit(what, most, self._file.location(table, key), applies))

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


def _is_of_kind(kind: str) -> Callable[[Collective], bool]:
    return lambda each: each.kind == kind


def _is_along(axis: str) -> Callable[[Collective], bool]:
    return lambda each: axis in each.axis_names
