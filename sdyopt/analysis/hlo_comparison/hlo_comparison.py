"""The collectives of a report beside those that XLA compiled: what is the same, and why the rest differs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import PurePath

from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.figures.units import bytes_text, times_text
from sdyopt.analysis.hlo_comparison.accelerators import (
    FOLDED,
    MERGED,
    NARROWED,
    SCATTERED,
    SUMMED,
    OnAccelerators,
)
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.comparison import HloComparison, totals_of, wire_bytes
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.reasons import (
    ELSEWHERE,
    HIT,
    MEANINGS,
    REASONS,
    SIZE,
    CollectiveMatch,
    label,
    place_of,
)
from sdyopt.analysis.interface.pages.section import Row, Section
from sdyopt.analysis.report.formats import DEFAULT_WIDTH, folded_lines, markdown_text
from sdyopt.analysis.report.formats import section_lines as markdown_lines
from sdyopt.analysis.report.text_report import section_lines
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.text import counted, printable_json

SCHEMA, VERSION = "sdy-opt-hlo-comparison", 1
_NO_LINES = "for lines of the model, print the program from JAX with as_text(debug_info=True)"
_UNKNOWN = "the HLO does not show why"
_ELIDED = (
    "the text leaves out large constants, which have the offsets: write compiled.as_text() in JAX, or dump "
    "the HLO with XLA_FLAGS=--xla_dump_large_constants"
)
# What changes on TPU and GPU, in words.
_CHANGES = {
    SCATTERED: "all-reduce of which each device only uses its slice: reduce-scatter",
    FOLDED: "all-reduce of an all-reduce: one along both axes",
    SUMMED: "terms of a sum, each reduced: one reduction of the sum",
    MERGED: "equal collectives of one value: one",
    NARROWED: "converted from 16-bit floats and back: sent as such",
}


def comparison_data(comparison: HloComparison) -> dict[str, object]:
    """The data of the JSON."""
    accelerated = comparison.accelerated
    formatter = _Formatter(comparison)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "mesh": comparison.report.mesh,
        "devices": comparison.compiled.devices,
        "platform": comparison.compiled.platform,
        "mismatch": comparison.mismatch or None,
        "slices": comparison.compiled.slices,
        "line_shifts": comparison.shifts,
        "not_understood": [
            {"name": name, "what": what, "bytes": size} for name, what, size in comparison.compiled.not_read
        ],
        "counts": {reason: comparison.counts[reason] for reason in REASONS if comparison.counts[reason]},
        "wire_bytes": {
            "report": round(wire_bytes(comparison.ours)),
            "xla": round(wire_bytes(comparison.theirs)),
        },
        "on_accelerators": None
        if accelerated is None
        else {
            "wire_bytes": round(wire_bytes(accelerated.operands)),
            "changes": [
                {"change": kind, "collectives": count, "saved": round(saved)}
                for kind, count, saved in _changes(accelerated)
            ],
            "undecided": round(wire_bytes(accelerated.undecided)),
        },
        "by_kind_and_axes": [
            {
                "kind": kind,
                "axes": axes,
                "report": round(ours),
                "xla": round(theirs),
                "on_accelerators": round(after),
            }
            for (kind, axes), (ours, theirs, after) in totals_of(comparison).items()
        ],
        "matches": [
            {
                "reason": match.reason,
                "why": match.why,
                "report": [formatter.operand_data(operand) for operand in match.ours],
                "xla": [formatter.operand_data(operand) for operand in match.theirs],
            }
            for match in comparison.matches
        ],
    }


@dataclass(frozen=True)
class _Formatter:
    """The data and texts of a comparison."""

    comparison: HloComparison

    def operand_data(self, operand: CollectiveOperand) -> dict[str, object]:
        data: dict[str, object] = {
            "name": operand.name,
            "kind": operand.kind,
            "axes": self.comparison.axes(operand),
            "group_size": operand.group_size,
            "bytes": operand.bytes,
            "wire_bytes": round(operand.wire_bytes_of_runs),
            "times": None if operand.times is None else [operand.times.low, operand.times.high],
            "location": _location_data(operand.location),
            "argument": operand.moved,
        }
        if (source := operand.hlo) is not None:
            data["operand"], data["operands"], data["type"] = source.number, source.count, source.type
            data["loops"] = [
                {"name_stack": loop.name, "location": _location_data(loop.location), "trips": loop.trips}
                for loop in source.loops
            ]
        return data

    def unknown(self) -> Iterator[str]:
        unknown = sum(collective.wire_bytes is None for collective in self.comparison.report.collectives)
        if unknown:
            yield f"not compared: {counted(unknown, 'collective')} of the report whose bytes are unknown"
        for file, shift in self.comparison.shifts.items():
            lines, than = counted(abs(shift), "line"), "later" if shift > 0 else "earlier"
            name = PurePath(file).name
            yield f"{name}: {lines} {than} in the HLO than in the program, compared without that"
        if not_read := self.comparison.compiled.not_read:
            kinds = Counter(kind for _, kind, _ in not_read)
            size = bytes_text(sum(size for *_, size in not_read))
            named = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            first = f"%{not_read[0][0]}" + ", …" * (len(not_read) > 1)
            yield f"not understood: {named}, {size} in one run, which may be sent ({first})"
        for name, operands in (("the report", self.comparison.ours), ("XLA", self.comparison.theirs)):
            if often := sum(operand.times is None for operand in operands):
                yield f"{often} of {name} in loops of unknown trip count, as if they ran once"

    def by_kind_and_axes(self) -> Iterator[Row]:
        for (kind, axes), sizes in totals_of(self.comparison).items():
            shown = sizes if self.comparison.accelerated is not None else sizes[:2]
            yield (*map(bytes_text, shown), f"{kind} {axes}".rstrip())

    def by_reason(self) -> Iterator[Row]:
        for reason in REASONS:
            matches = [match for match in self.comparison.matches if match.reason == reason]
            if matches:
                ours = [operand for match in matches for operand in match.ours]
                theirs = [operand for match in matches for operand in match.theirs]
                yield (
                    str(len(ours)),
                    str(len(theirs)),
                    bytes_text(wire_bytes(ours)),
                    bytes_text(wire_bytes(theirs)),
                    reason,
                    MEANINGS[reason],
                )

    def same_by_line(self) -> Iterator[Section]:
        """What is the same, by the line of the program."""
        lines: dict[str, list[CollectiveOperand]] = {}
        for match in self.comparison.matches:
            if match.reason == HIT:
                for operand in match.ours:
                    lines.setdefault(operand.location.file_text or "unknown line", []).append(operand)
        rows = [
            (bytes_text(wire_bytes(operands)), str(len(operands)), where, self._kinds(operands))
            for where, operands in sorted(lines.items(), key=lambda entry: -wire_bytes(entry[1]))
        ]
        if rows:
            section = Section(f"{counted(sum(map(len, lines.values())), 'collective')} in common")
            section.add_table(_SAME_BY_LINE, ("bytes", "collectives", "where", "kinds and axes"), 2, rows)
            yield section

    def _kinds(self, operands: Iterable[CollectiveOperand]) -> str:
        counts = Counter(f"{operand.kind} {self.comparison.axes(operand)}".rstrip() for operand in operands)
        return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())

    def row(self, match: CollectiveMatch) -> Row:
        ours, theirs = wire_bytes(match.ours), wire_bytes(match.theirs)
        reason = match.reason
        if reason == SIZE:
            reason = f"same place, other size: {bytes_text(ours)} → {bytes_text(theirs)}"
        here, there = (_place(operands) for operands in (match.ours, match.theirs))
        if reason == ELSEWHERE:
            reason = f"same, in XLA at {there}"
        where = here or there
        # The other line of a same one is all there is to say.
        why = match.why or ("" if match.reason == ELSEWHERE else _UNKNOWN)
        text = f"{reason}: {why}" if why else reason
        labels = dict.fromkeys(label(operand) for operand in match.theirs[:3] if label(operand) not in why)
        if labels:
            text += f" ({', '.join(labels)})"
        moved = next((operand.moved for operand in (*match.ours, *match.theirs) if operand.moved), "")
        return (
            bytes_text(ours) if match.ours else "",
            bytes_text(theirs) if match.theirs else "",
            self._texts(match.ours),
            self._texts(match.theirs),
            ": ".join(filter(None, (f"{where}, {moved}" if where and moved else where or moved, text))),
        )

    def _texts(self, operands: Sequence[CollectiveOperand]) -> str:
        """The collectives of one side; equal ones once, with their number."""
        counts = Counter(self._text(operand) for operand in operands)
        return " + ".join(text if count == 1 else f"{count} {text}" for text, count in counts.items())

    def _text(self, operand: CollectiveOperand) -> str:
        number = f"{operand.name} " if operand.name.startswith("#") else ""
        return number + f"{operand.kind} {self.comparison.axes(operand)}".rstrip() + _runs_text(operand)


def _location_data(location: SourceLocation) -> dict[str, object]:
    return {
        "file": location.file,
        "line": location.line,
        "column": location.column,
        "name_stack": location.name_stack,
    }


def _markdown(comparison: HloComparison) -> str:
    lines = (f"{markdown_text(line)}  " for line in header_of(comparison))
    sections = sections_of(comparison)
    open_ones = [section for section in sections if not _is_folded(section)]
    closed = [*filter(_is_folded, sections), listing_of(comparison)]
    return "\n".join([*lines, "", *markdown_lines(open_ones), *folded_lines(closed)]) + "\n"


def _is_folded(section: Section) -> bool:
    return bool(section.tables) and section.tables[0].title in _FOLDED


# Tables that are folded where they can be.
_SAME_BY_LINE, _LISTING = "the same, by line", "collectives of XLA"
_FOLDED = (_SAME_BY_LINE, _LISTING)


def header_of(comparison: HloComparison) -> list[str]:
    """The number of collectives and the bytes of both."""
    compiled, ours, theirs = comparison.compiled, comparison.ours, comparison.theirs
    instructions = len({id(operand.source.op) for operand in theirs})
    combined = f" in {counted(instructions, 'instruction')}" if instructions < len(theirs) else ""
    device = f", compiled for {compiled.platform}" if compiled.platform else ""
    machine = f", for {comparison.report.topology}" if comparison.report.topology else ""
    silent = sum(not collective.wire_bytes for collective in comparison.report.collectives)
    no_bytes = f"; {silent} more of the report, such as all_slice, send nothing" if silent else ""
    if silent == 1:
        no_bytes = "; 1 more of the report sends nothing"
    lines = [f"another program? {comparison.mismatch}"] if comparison.mismatch else []
    lines += [
        f"report: {counted(len(ours), 'collective')}, {bytes_text(wire_bytes(ours))} on the wire per device"
        f"{machine}{no_bytes}",
        f"XLA:    {counted(len(theirs), 'collective')}{combined}, {bytes_text(wire_bytes(theirs))} on the "
        f"wire per device{device}",
    ]
    if comparison.accelerated is not None:
        size = bytes_text(wire_bytes(comparison.accelerated.operands))
        lines.append(f"on TPU and GPU, as far as this HLO shows: {size}")
    return lines


FORMATS: dict[str, Callable[[HloComparison], str]] = {
    ".json": lambda comparison: (
        printable_json(json.dumps(comparison_data(comparison), indent=1, ensure_ascii=False)) + "\n"
    ),
    ".md": _markdown,
    ".txt": lambda comparison: comparison_text(comparison, DEFAULT_WIDTH, None),
}


def comparison_text(comparison: HloComparison, width: int, rows: int | None) -> str:
    """The comparison for a terminal; `rows` limits each table. Without a limit, all of XLA's are listed."""
    summary, *details = sections_of(comparison)
    if rows is None:
        details.append(listing_of(comparison))
    lines = [
        *section_lines(header_of(comparison), [summary], width, None),
        *section_lines([], details, width, rows, noted_rows=rows or 0),
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def sections_of(comparison: HloComparison) -> list[Section]:
    """The bytes by kind and axes, the classes of differences, what differs, and what is the same."""
    return [*different_sections(comparison), *_Formatter(comparison).same_by_line()]


def different_sections(comparison: HloComparison) -> list[Section]:
    """The bytes by kind and axes, the classes of differences, and what differs."""
    same = sum(len(match.ours) for match in comparison.matches if match.reason == HIT)
    summary = Section(f"{same} of {len(comparison.ours)} collectives are the same in XLA's program")
    summary.sentences.append("operands of combined collectives count each; bytes of all runs of loops")
    formatter = _Formatter(comparison)
    summary.sentences += formatter.unknown()
    is_changed = comparison.accelerated is not None
    columns = ("report", "XLA", *(["on TPU and GPU"] if is_changed else []), "kind and axes")
    summary.add_table("by kind and axes", columns, len(columns) - 1, formatter.by_kind_and_axes())
    differing = [match for match in comparison.matches if match.reason != HIT]
    if not differing:
        return [summary]
    summary.add_table(
        "by reason",
        ("report", "XLA", "bytes", "bytes in XLA", "reason", "why"),
        4,
        formatter.by_reason(),
        True,
    )
    changes = Section("what TPU and GPU would change, in this HLO")
    if comparison.accelerated is not None:
        changed: list[Row] = [
            (bytes_text(saved), str(count), _CHANGES[kind])
            for kind, count, saved in _changes(comparison.accelerated)
        ]
        changes.add_table("changes", ("less", "collectives", "change"), 2, changed)
        if of_top_k := wire_bytes(comparison.of_top_k):
            changes.sentences.append(f"not changed: {bytes_text(of_top_k)} for operands of TopK")
        changes.sentences += _undecided(comparison.compiled, comparison.accelerated)
    details = Section(counted(len(differing), "difference"))
    if not any(operand.location.line for operand in comparison.ours):
        details.sentences.append(_NO_LINES)
    columns = ("bytes", "bytes in XLA", "report", "XLA", "where and why")
    rows = [formatter.row(match) for match in _by_size(differing)]
    details.add_table("differences", columns, 2, rows, has_notes=True)
    return [
        summary,
        *([changes] if changes.tables or changes.sentences else []),
        details,
    ]


def _undecided(compiled: CompiledProgram, accelerated: OnAccelerators) -> Iterator[str]:
    if undecided := accelerated.undecided:
        sizes = f"{counted(len(undecided), 'all-reduce')}, {bytes_text(wire_bytes(undecided))}"
        yield f"undecided: {sizes}: each use is a slice as large as a shard, at offsets that are unknown"
        if compiled.is_elided:
            yield _ELIDED


def _changes(accelerated: OnAccelerators) -> Iterator[tuple[str, int, Fraction]]:
    """The changes by kind: their number, and the bytes that they save."""
    for kind in _CHANGES:
        saved = [change.saved for change in accelerated.changes if change.kind == kind]
        if saved:
            yield kind, len(saved), sum(saved, Fraction(0))


def _by_size(matches: Sequence[CollectiveMatch]) -> list[CollectiveMatch]:
    def size(match: CollectiveMatch) -> tuple[Fraction, Fraction]:
        ours, theirs = wire_bytes(match.ours), wire_bytes(match.theirs)
        return -abs(ours - theirs), -max(ours, theirs)

    return sorted(matches, key=size)


def listing_of(comparison: HloComparison) -> Section:
    """All collectives of XLA with their name stacks and loops."""
    section = Section(f"all {counted(len(comparison.theirs), 'collective')} of XLA's program")
    rows = [
        (
            bytes_text(operand.wire_bytes_of_runs),
            bytes_text(operand.bytes),
            f"{operand.kind} {comparison.axes(operand)}".rstrip() + _runs_text(operand),
            place_of(operand).file_text if place_of(operand).line else "",
            _listing_note(operand),
        )
        for operand in comparison.theirs
    ]
    columns = ("bytes", "bytes per run", "kind and axes", "line", "name stack and loops")
    section.add_table(_LISTING, columns, 2, rows, has_notes=True)
    return section


def _listing_note(operand: CollectiveOperand) -> str:
    parts, source = [f"%{operand.name}"], operand.source
    if source.count > 1:
        parts[0] += f", operand {source.number} of {source.count}"
    # Of merged operations, the first.
    parts.append(operand.location.name_stack.partition(";")[0])
    if operand.moved != operand.location.name_stack:
        parts.append(operand.moved)
    parts += [
        f"in {loop.name or 'a loop'} × {'n' if loop.trips is None else loop.trips}" for loop in source.loops
    ]
    return "; ".join(filter(None, parts))


def _place(operands: Sequence[CollectiveOperand]) -> str:
    """The line of collectives, or that of an operation that uses the result."""
    places = [place_of(operand) for operand in operands]
    location = next((place for place in places if place.line), places[0] if places else None)
    return "" if location is None else location.file_text


def _runs_text(operand: CollectiveOperand) -> str:
    times = times_text(operand.times, operand.per_iteration)
    return "" if times == "1" else f" × {times}"
