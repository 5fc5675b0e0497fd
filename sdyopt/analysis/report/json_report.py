"""A report as JSON. The schema is versioned: within a version, no field is removed or changes its meaning."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sdyopt.analysis.figures.figures import Compiled, Report, RunTimes, TimeEstimate
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.figures.totals import (
    Total,
    activation_total,
    bound_of,
    flop_totals,
    phase_totals,
    recomputed_share,
    time_range,
    time_totals,
    useful_share,
    wire_total,
    wire_totals,
)
from sdyopt.base.dataclasses import asdict, fields, is_dataclass
from sdyopt.base.diagnostics.text import printable_json

SCHEMA = "sdy-opt-report"
VERSION = 1


def json_report(report: Report) -> str:
    """The report as JSON text: totals first, then figures. Fractions of bytes are rounded to bytes."""
    local, whole = flop_totals(report)
    share, recomputed, boundary = useful_share(report), recomputed_share(report), report.boundary()
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "devices": report.devices,
        "mesh": report.mesh,
        "assumption": report.assumption,
        "totals": {
            "wire_bytes": _total(wire_total(report)),
            "wire_bytes_by_kind": _totals(wire_totals(report.collectives, lambda c: c.kind)),
            "wire_bytes_by_axes": _totals(wire_totals(report.collectives, lambda c: c.group)),
            "wire_bytes_by_line": _totals(wire_totals(report.collectives, lambda c: c.location.path_text)),
            "wire_bytes_by_phase": _totals(
                {str(phase): part for phase, part in phase_totals(report).items()}
            ),
            "wire_bytes_of_activation_reshards": _total(activation_total(report)),
            "flops": _total(local),
            "global_flops": _total(whole),
            "useful_share": None if share is None else float(share),
            "recomputed_share": None if recomputed is None else float(recomputed),
        },
        "collectives": report.collectives,
        "undecided": report.undecided,
        "unknown_loops": report.unknown_loops,
        "memory": report.memory,
        "device_memory": report.device_memory,
        "fits": None if report.device_memory is None else report.memory.peak <= report.device_memory,
        "carried": report.carried,
        "arguments": boundary.arguments,
        "results": boundary.results,
        "products": report.products,
        "topology": report.topology or None,
        "compiler": report.compiler or None,
        "wire_bytes_by_compiler": {
            name: _total(wire_total(Report(collectives=collectives)))
            for name, collectives in report.by_compiler().items()
        },
        "time": None if report.time is None else _time(report, report.time),
    }
    if report.compiled is not None:
        data["compiled"] = _compiled(report.compiled)
    return printable_json(json.dumps(_plain(data), indent=1, ensure_ascii=False)) + "\n"


def _compiled(compiled: Compiled) -> dict[str, object]:
    """The figures of a machine's compiler, and the comparison of its collectives with those of the report."""
    figures = compiled.figures
    return {
        "compiler": compiled.compiler,
        "target": compiled.target,
        "wire_bytes": _total(wire_total(figures)),
        "flops": compiled.flops,
        "memory": figures.memory,
        "fits": None if figures.device_memory is None else figures.memory.peak <= figures.device_memory,
        "collectives": figures.collectives,
        "comparison": compiled.data,
    }


def _plain(value: Any) -> Any:
    """The value in terms of what JSON has: dictionaries, lists, numbers, strings, booleans and None."""
    if isinstance(value, Fraction):
        return round(value)
    if isinstance(value, RunTimes):
        return [value.low, value.high]
    if isinstance(value, SourceLocation):
        point = {name: item for name, item in value._asdict().items() if name not in ("frames", "path")}
        return point | {"scope": value.scope, "phase": value.phase}
    if is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def _time(report: Report, estimate: TimeEstimate) -> dict[str, object]:
    """The estimated times, in seconds."""
    communication, compute = time_totals(report, estimate)
    return {
        "communication": _seconds(asdict(communication)),
        "compute": _seconds(asdict(compute)),
        "elementwise": None if estimate.elementwise is None else [*map(number, estimate.elementwise)],
        "range": [*map(number, time_range(report, estimate))],
        "bound": bound_of(report, estimate) or None,
        "error": estimate.error or None,
        "collectives": [_seconds(asdict(collective)) for collective in estimate.collectives],
        "products": [_seconds(asdict(product)) for product in estimate.products],
    }


def _seconds(figures: dict[str, object]) -> dict[str, object]:
    """The figures with numbers of JSON in place of exact fractions."""
    return {key: number(value) if isinstance(value, Fraction) else value for key, value in figures.items()}


def number(value: Fraction) -> float | int:
    """The float nearest to a value; rounded to an integer if it is beyond the range of floats."""
    try:
        return float(value)
    except OverflowError:
        return round(value)


def _total(total: Total) -> dict[str, object]:
    return asdict(total)


def _totals(totals: dict[str, Total]) -> dict[str, object]:
    return {key: _total(total) for key, total in totals.items()}
