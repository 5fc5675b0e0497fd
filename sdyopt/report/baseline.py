"""Baselines: a report compared with an earlier one, which `--report=FILE.json` wrote.

It fails where the wire bytes of all collectives, the peak of live memory or the FLOPs per device have
grown by more than the tolerance, and shows what grew: collectives by kind, axes and place in the program,
not by their number. The place is JAX's name stack where there is one, so that a line that moves does not
count as another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError
from sdyopt.diagnostics.location import FileLoc, Location, UnknownLoc
from sdyopt.report.budget import CONTRIBUTORS, collective_location
from sdyopt.report.figures import Collective, Report
from sdyopt.report.json_report import SCHEMA, VERSION
from sdyopt.report.totals import flop_totals, wire_bytes_of_runs, wire_total
from sdyopt.report.units import bytes_text, flops_text

# Kind, axes in mesh order, and place in the program.
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The figures of the earlier report that are compared."""

    wire_bytes: Fraction
    peak_memory: Fraction
    flops: Fraction
    collectives: Mapping[Key, Fraction]

    def grown(self, report: Report, tolerance: Fraction = Fraction(0)) -> Iterator[Diagnostic]:
        """An error for each figure that has grown by more than `tolerance`, a fraction of the old one."""
        wire, memory = wire_total(report).high, report.memory.peak
        local, _ = flop_totals(report)
        if _is_more(wire, self.wire_bytes, tolerance):
            message = f"wire bytes per device grew from {bytes_text(self.wire_bytes)} to {bytes_text(wire)}"
            error = DiagnosticError.at(UnknownLoc(), message)
            yield _with_places(error, self._grown_places(report)).diagnostic
        if _is_more(memory, self.peak_memory, tolerance):
            old, new = bytes_text(self.peak_memory), bytes_text(memory)
            where = report.memory.peak_location
            location = FileLoc(where.file, where.line, where.column) if where.line else UnknownLoc()
            yield DiagnosticError.at(location, f"peak of live memory grew from {old} to {new}").diagnostic
        if _is_more(local.high, self.flops, tolerance):
            old, new = flops_text(self.flops), flops_text(local.high)
            yield DiagnosticError.at(UnknownLoc(), f"FLOPs per device grew from {old} to {new}").diagnostic

    def _grown_places(self, report: Report) -> list[tuple[Fraction, str, Location]]:
        """(growth, sentence, location) of each kind of collective at a place, the most grown first."""
        sums, examples = _by_place(report.collectives)
        found = []
        for key, size in sums.items():
            old = self.collectives.get(key)
            if size > (old or 0):
                before = "is new" if old is None else f"was {bytes_text(old)}"
                example = examples[key]
                sentence = f"{key[0]} {key[1]}: {bytes_text(size)}, {before}; {example.cause}"
                found.append((size - (old or 0), sentence, collective_location(example)))
        return sorted(found, key=lambda growth: (-growth[0], growth[1]))


def read_baseline(name: str, text: str) -> Baseline:
    """The figures of a JSON report; DiagnosticError, located in the file, for any other text."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise DiagnosticError.at(
            FileLoc(name, error.lineno, error.colno), f"invalid JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise _not_a_report(name, "it is nested too deeply") from None
    except ValueError:
        raise _not_a_report(name, "a number has too many digits") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise _not_a_report(name, f'it has no "schema": "{SCHEMA}"')
    if data.get("version") != VERSION:
        raise _not_a_report(name, f"its version is not {VERSION}")
    try:
        return _baseline(data)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise _not_a_report(name, "a figure is missing or is no number") from None


def _not_a_report(name: str, why: str) -> DiagnosticError:
    error = DiagnosticError.at(FileLoc(name, 1, 1), f"not a report of sdy-opt: {why}")
    return error.help("write a baseline with --report=FILE.json")


def _baseline(data: dict[str, Any]) -> Baseline:
    totals = data["totals"]
    collectives: dict[Key, Fraction] = {}
    for each in data["collectives"]:
        if each["wire_bytes"] is not None and each["times"] is not None:
            key = each["kind"], each["group"], _place(each["location"])
            size = _figure(each["wire_bytes"]) * _figure(each["times"][1])
            collectives[key] = collectives.get(key, Fraction(0)) + size
    return Baseline(
        _figure(totals["wire_bytes"]["high"]),
        _figure(data["memory"]["peak"]),
        _figure(totals["flops"]["high"]),
        collectives,
    )


def _figure(value: object) -> Fraction:
    """A figure of a report. Raises ValueError for what no report contains."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        raise ValueError
    return Fraction(value)


def _place(location: Mapping[str, Any]) -> str:
    return str(location["name_stack"]) or f"{location['file']}:{location['line']}"


def _by_place(collectives: Sequence[Collective]) -> tuple[dict[Key, Fraction], dict[Key, Collective]]:
    """Wire bytes by kind, axes and place, and the first collective of each."""
    sums: dict[Key, Fraction] = {}
    examples: dict[Key, Collective] = {}
    for each in collectives:
        if (size := wire_bytes_of_runs(each)) is not None:
            key = each.kind, each.group, _place(each.location._asdict())
            sums[key] = sums.get(key, Fraction(0)) + size
            examples.setdefault(key, each)
    return sums, examples


def _is_more(new: Fraction | int, old: Fraction, tolerance: Fraction) -> bool:
    """Whether a figure has grown. Reports round fractions of bytes, so that half a byte is no growth."""
    return new > old * (1 + tolerance) + Fraction(1, 2)


def _with_places(error: DiagnosticError, places: Sequence[tuple[Fraction, str, Location]]) -> DiagnosticError:
    for _, sentence, location in places[:CONTRIBUTORS]:
        error.note(sentence, location)
    return error
