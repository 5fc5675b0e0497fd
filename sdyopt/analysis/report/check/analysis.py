"""`--check`: the check of the programs of a run, and its JSON, small enough to be read by an agent.

The schema of JSON is versioned: within a version, no field is removed or changes its meaning.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest

from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.figures.execution_counts import assumed_trips
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.figures.totals import flop_totals, time_range, useful_share, wire_total
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.analysis.report.check import Options, checks_of
from sdyopt.analysis.report.check.check_text import FULL_WIDTH, check_text, why
from sdyopt.analysis.report.check.checker import Checker, CheckResult, CostlyPlace, MemoryPlace
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, identified
from sdyopt.base.diagnostics.text import printable_json
from sdyopt.mlir.ir.operation import Op


class Checking(Analysis[Options]):
    """The checks of one run. A topology with mistakes is located in its file."""

    phase = "Check"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        if (path := options.check) is not None and path != STDOUT:
            run.check_is_one_chunk(f"--check={path} is one file", "check each chunk in a run of its own")
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.speeds is None else read_topology(*options.speeds)
        self._memory, self._trips = options.memory, assumed_trips(options.trips)
        self._checker: Checker

    def on_input(self, program: Program) -> None:
        has_passes = bool(program.pipeline.elements) and not program.assumption
        self._checker = Checker(program.op, has_passes, self._topology, os.cpu_count() or 1, self._trips)

    def partitioned(self, program: Program) -> Op | None:
        return self._checker.partitioned(program.verify)

    def on_output(self, program: Program) -> None:
        report = self._checker.report_on(program.op)
        report.assumption = program.assumption
        if self._memory is not None:
            report.device_memory = self._memory
        report.compiled = program.compiled(report)
        check = self._checker.check(report, self._memory)
        program.shared(checks_of).append(check)
        path = self.options.check
        if path == STDOUT:
            self.texts.append(check_text(check, self.run.width))
        elif path is not None:
            text = check_json(check) if path.endswith(".json") else check_text(check, FULL_WIDTH)
            self.run.write_file(path, text)


SCHEMA, VERSION = "sdy-opt-check", 1
# More names of arguments than this are counted only.
_NAMES = 6


def check_json(check: CheckResult) -> str:
    """The figures of a check, its places, and their changes. Bytes and FLOPs are those of one device."""
    report, known = check.report, check.report.best_known
    share, compiled = useful_share(report), report.compiled
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "devices": report.devices,
        "mesh": report.mesh,
        "machine": report.topology or None,
        # What the rest of the figures are of: estimates, or a compiler.
        "compiled": None if compiled is None else f"{compiled.compiler} for {compiled.target}",
        "wire_bytes": round(wire_total(known).high),
        "peak_bytes": known.memory.peak,
        "estimated": None
        if compiled is None
        else {"wire_bytes": round(check.wire.high), "peak_bytes": report.memory.peak},
        "device_memory": check.device_memory,
        "fits": check.fits,
        "flops": round(flop_totals(report)[0].high),
        "useful_share": None if share is None else round(float(share), 4),
        "seconds": None if report.time is None else [*map(_seconds, time_range(report, report.time))],
        "places": [_place(check, place) for place in check.places],
        # What takes more of the peak than it must.
        "memory_place": None if check.memory_place is None else _memory_place(check.memory_place),
        # The best change of the program, if it is that of no place.
        "elsewhere": None if check.elsewhere is None else _change(check.elsewhere),
        "together": None if check.together is None else _change(check.together),
        # The best change that is none of the above.
        "alternative": None if check.alternative is None else _change(check.alternative),
        "tried": check.tried,
        "proposed": check.proposed,
    }
    # A line for each figure and each place.
    lines = ",\n".join(f" {json.dumps(key)}: {_text(value)}" for key, value in data.items())
    return f"{{\n{lines}\n}}\n"


def _text(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return (
            "[\n  "
            + ",\n  ".join(printable_json(json.dumps(item, ensure_ascii=False)) for item in value)
            + "\n ]"
        )
    return printable_json(json.dumps(value, ensure_ascii=False))


def _place(check: CheckResult, place: CostlyPlace) -> dict[str, object]:
    # What costs most is the first place; a place whose change is that of an earlier one names that.
    location = place.largest.location
    names = list(dict.fromkeys(name for part in place.parts for name in part.names))
    return {
        "file": location.file,
        "line": location.line,
        "column": location.column,
        "wire_bytes": round(place.total.high),
        "kinds": {part.kind.replace('"', ""): round(part.total.high) for part in place.parts},
        # So many others are the same, and are counted here.
        "further_lines": place.further,
        "names": [*names[:_NAMES], *([f"and {len(names) - _NAMES} more"] if len(names) > _NAMES else [])],
        "reason": why(place),
        "is_written": place.is_written,
        "change": None if place.best is None or place.shared else _change(place.best),
        # What the change still saves after the best one, if both change some of the same places.
        "after_best_change": None
        if (more := place.after_best) is None
        else {
            "wire_bytes": _pair(more.before.wire_bytes, more.after.wire_bytes),
            "peak_bytes": _pair(more.before.peak_bytes, more.after.peak_bytes),
        },
        "same_change_as_place": place.shared or None,
        # What to write if that cannot be tried.
        "untried": place.untried or None,
    }


def _memory_place(place: MemoryPlace) -> dict[str, object]:
    return {
        "file": place.location.file,
        "line": place.location.line,
        "column": place.location.column,
        "name": place.name,
        "peak_bytes": place.saved,
        "reason": place.reason,
        "change": _change(place.trial),
    }


def _change(trial: Trial) -> dict[str, object]:
    """What to write in place of what, and the figures before and after it."""
    before, after = trial.before, trial.after
    # One for each value, of which layers have several.
    specs = dict.fromkeys(
        (
            annotation.place,
            None if edit is not None and edit.is_removal else annotation.spec or annotation.sdy,
        )
        for annotation, edit in zip_longest(trial.annotations, trial.change.edits)
    )
    return {
        "write": trial.text or list(trial.texts),
        "now": trial.now or None,
        # None for an annotation to remove.
        "annotations": [{"place": place, "spec": spec} for place, spec in list(specs)[:_NAMES]],
        "further_annotations": max(0, len(specs) - _NAMES),
        "wire_bytes": _pair(before.wire_bytes, after.wire_bytes),
        "peak_bytes": _pair(before.peak_bytes, after.peak_bytes),
        "flops": _pair(before.flops, after.flops),
        "seconds": [_seconds(before.seconds), _seconds(after.seconds)],
        "depends_on_partitioner": not trial.is_conflict_free,
    }


def _seconds(seconds: Fraction) -> float:
    return float(f"{float(seconds):.4g}")


def _pair(before: Fraction | int, after: Fraction | int) -> Sequence[int]:
    return [round(before), round(after)]
