"""A report as JSON, and baselines: a report compared with an earlier one in this form.

The schema is versioned: within a version, no field is removed or changes its meaning.

Against a baseline, it is an error if the wire bytes of all collectives, the peak of live memory or the FLOPs
per device have grown by more than the tolerance. The error is located at what grew most: collectives of the
same kind and axes, values of the same type or products of the same kind, each at the same source location,
are compared as sums. The location is JAX's name stack if there is one, so that it stays the same when lines
move.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from sdyopt.analysis.figures.figures import (
    Collective,
    Compiled,
    LiveValue,
    Product,
    Report,
    RunTimes,
    TimeEstimate,
)
from sdyopt.analysis.figures.located_files import JsonFile, JsonReader, Path
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
    wire_bytes_of_runs,
    wire_total,
    wire_totals,
)
from sdyopt.analysis.figures.units import bytes_text, flops_text
from sdyopt.analysis.report.budget import MAX_CONTRIBUTORS, Contributor, finding
from sdyopt.base.dataclasses import asdict, dataclass, fields, is_dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError
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


# The kind and axes of a collective, the type of a value and "", or the kind of a product and ""; and its
# location.
Key = tuple[str, str, str]
Sums = dict[Key, Fraction]
_Part = TypeVar("_Part", Collective, LiveValue, Product)


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure of the earlier report, the sums of its parts, and its path in the file."""

    value: Fraction
    parts: Mapping[Key, Fraction]
    path: Path

    def grown(
        self,
        parts: Iterable[_Part],
        key_of: Callable[[_Part], Key],
        size_of: Callable[[_Part], Fraction | int | None],
        text: Callable[[Fraction | int | None], str],
    ) -> Iterator[Contributor]:
        """The parts that are new or larger than in the baseline, the most grown first."""
        sums: Sums = {}
        examples: dict[Key, _Part] = {}
        for part in parts:
            if (size := size_of(part)) is not None:
                key = key_of(part)
                sums[key] = sums.get(key, Fraction(0)) + size
                examples.setdefault(key, part)
        growth = {key: size - self.parts.get(key, Fraction(0)) for key, size in sums.items()}
        for key in sorted(growth, key=lambda key: (-growth[key], key)):
            if growth[key] > 0:
                before = f"was {text(self.parts[key])}" if key in self.parts else "is new"
                what = " ".join(filter(None, key[:2]))
                example = examples[key]
                cause = example.cause if isinstance(example, Collective) else ""
                yield Contributor(f"{what}: {text(sums[key])}, {before}", example.location, cause)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The figures of the earlier report that are compared."""

    file: JsonFile
    wire_bytes: _Figure
    peak_memory: _Figure
    flops: _Figure
    unknown: int

    def _has_common_part(self, report: Report) -> bool:
        """Whether a report has a part of the baseline: a collective, a product or a live value."""
        old = {*self.wire_bytes.parts, *self.peak_memory.parts, *self.flops.parts}
        new = {
            *map(_collective_key, report.collectives),
            *map(_value_key, report.memory.live_at_peak),
            *map(_product_key, report.products),
        }
        return not old or not new or not old.isdisjoint(new)

    def grown(self, report: Report, tolerance: Fraction = Fraction(0)) -> Iterator[Diagnostic]:
        """An error for each figure that has grown by more than `tolerance`, a fraction of the old one."""
        comparisons: tuple[
            tuple[str, _Figure, Fraction | int, Callable[..., str], Iterable[Contributor]], ...
        ] = (
            (
                "wire bytes per device",
                self.wire_bytes,
                wire_total(report).high,
                bytes_text,
                self.wire_bytes.grown(
                    report.collectives,
                    _collective_key,
                    wire_bytes_of_runs,
                    bytes_text,
                ),
            ),
            (
                "peak of live memory",
                self.peak_memory,
                report.memory.peak,
                bytes_text,
                self.peak_memory.grown(
                    report.memory.live_at_peak,
                    _value_key,
                    lambda live: live.bytes,
                    bytes_text,
                ),
            ),
            (
                "FLOPs per device",
                self.flops,
                flop_totals(report)[0].high,
                flops_text,
                self.flops.grown(
                    report.products,
                    _product_key,
                    _flops_of_runs,
                    flops_text,
                ),
            ),
        )
        if not self._has_common_part(report):
            error = DiagnosticError.at(
                self.file.location(),
                "the baseline is of another program: it has none of the operations of this one",
            )
            yield error.help(f"write a baseline of this program with --report={self.file.name}").diagnostic
            return
        if (count := wire_total(report).unknown) > self.unknown:
            message = f"{count} collectives have unknown bytes, where the baseline has {self.unknown}"
            lines = [unknown_loop.line for unknown_loop in report.unknown_loops if unknown_loop.line]
            help = f"give the trip count of the loop with --assume-trips={lines[0]}=N" if lines else ""
            path = ("totals", "wire_bytes", "unknown")
            yield DiagnosticError.at(self.file.location(path), message).help(help).diagnostic
        for what, old, new, text, contributors in comparisons:
            if _has_grown(new, old.value, tolerance):
                message = f"{what} grew from {text(old.value)} to {text(new)}"
                most = list(contributors)[:MAX_CONTRIBUTORS]
                error = finding(message, most, self.file.location(old.path), "the baseline is set here")
                yield error.help(
                    f"if this is intended, write a new baseline with --report={self.file.name}, or allow it "
                    "with --tolerance=PERCENT"
                ).diagnostic


def read_baseline(name: str, text: str) -> Baseline:
    """The figures of a JSON report. Raises DiagnosticError, located in the file, for any other text."""
    try:
        return _Reader(JsonFile(name, text)).baseline()
    except DiagnosticError as error:
        raise error.help("write a baseline with --report=FILE.json") from None


class _Reader(JsonReader):
    """Reads a baseline. Raises DiagnosticError at a value that no report contains."""

    def baseline(self) -> Baseline:
        self.check_schema("report", SCHEMA, VERSION)
        return Baseline(
            self.file,
            self._total(("totals", "wire_bytes", "high"), self._collectives()),
            self._total(("memory", "peak"), self._live_values()),
            self._total(("totals", "flops", "high"), self._products()),
            self._unknown(),
        )

    def _unknown(self) -> int:
        path = ("totals", "wire_bytes", "unknown")
        return int(self.figure(path)) if self.has(path) else 0

    def _total(self, path: Path, parts: Sums) -> _Figure:
        return _Figure(self.figure(path), parts, path)

    def _collectives(self) -> Sums:
        sums: Sums = {}
        for path in self.entries(("collectives",)):
            if self.at((*path, "wire_bytes")) is not None and self.at((*path, "times")) is not None:
                key = self.text((*path, "kind")), self.text((*path, "group")), self._location_key(path)
                size = self.figure((*path, "wire_bytes")) * self.figure((*path, "times", 1))
                sums[key] = sums.get(key, Fraction(0)) + size
        return sums

    def _live_values(self) -> Sums:
        sums: Sums = {}
        for path in self.entries(("memory", "live_at_peak")):
            key = self.text((*path, "type")), "", self._location_key(path)
            sums[key] = sums.get(key, Fraction(0)) + self.figure((*path, "bytes"))
        return sums

    def _products(self) -> Sums:
        sums: Sums = {}
        for path in self.entries(("products",)):
            if self.at((*path, "flops")) is not None and self.at((*path, "times")) is not None:
                key = self.text((*path, "kind")), "", self._location_key(path)
                flops = self.figure((*path, "flops")) * self.figure((*path, "times", 1))
                sums[key] = sums.get(key, Fraction(0)) + flops
        return sums

    def _location_key(self, path: Path) -> str:
        at = (*path, "location")
        if stack := self.text((*at, "name_stack")):
            return stack
        return f"{self.text((*at, 'file'))}:{self.figure((*at, 'line'))}"


# --- What grew ----------------------------------------------------------------------------------------


def _collective_key(collective: Collective) -> Key:
    return collective.kind, collective.group, _location_key(collective.location)


def _value_key(live: LiveValue) -> Key:
    return live.type, "", _location_key(live.location)


def _product_key(product: Product) -> Key:
    return product.kind, "", _location_key(product.location)


def _location_key(location: SourceLocation) -> str:
    return location.name_stack or f"{location.file}:{location.line}"


def _flops_of_runs(product: Product) -> int | None:
    return None if product.flops is None or product.times is None else product.flops * product.times.high


def _has_grown(new: Fraction | int, old: Fraction, tolerance: Fraction) -> bool:
    """Whether a figure has grown by more than the tolerance, and by more than a report rounds off."""
    return new > old * (1 + tolerance) + Fraction(1, 2)
