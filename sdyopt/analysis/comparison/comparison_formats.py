"""The formats of a comparison: text for a terminal, Markdown for a comment in CI, and JSON for tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import PurePath

from sdyopt.analysis.comparison.comparison import (
    CostChanges,
    FigureChange,
    ProgramComparison,
    ShardingChange,
    TimeRange,
    TotalChange,
)
from sdyopt.analysis.comparison.comparison_sections import header_of, sections_of
from sdyopt.analysis.comparison.program_values import ProgramValue, ProgramValues
from sdyopt.analysis.report.formats import DEFAULT_WIDTH, check_suffix, folded_lines, markdown_text
from sdyopt.analysis.report.json_report import number
from sdyopt.analysis.report.text_report import MIN_WIDTH
from sdyopt.analysis.report.text_report import section_lines as text_section_lines
from sdyopt.base.diagnostics.text import printable_json
from sdyopt.mlir.dialects.sdy.mesh import Mesh

SCHEMA = "sdy-opt-comparison"
VERSION = 1


def json_comparison(comparison: ProgramComparison) -> str:
    """The comparison as JSON text."""
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "is_empty": comparison.is_empty,
        "assumptions": list(comparison.assumptions),
        "before": _program(comparison.titles[0], comparison.before),
        "after": _program(comparison.titles[1], comparison.after),
        "matched": comparison.matched,
        "retyped": comparison.retyped,
        "annotations": _changes(comparison.annotations),
        "shardings": _changes(comparison.placements),
        "openness": _changes(comparison.openness),
        "only_before": list(map(_value, comparison.only_before)),
        "only_after": list(map(_value, comparison.only_after)),
        "copied_constants": comparison.copies,
        "costs": None if comparison.costs is None else _json_costs(comparison.costs),
    }
    return printable_json(json.dumps(data, indent=1, ensure_ascii=False)) + "\n"


def _program(title: str, values: ProgramValues) -> dict[str, object]:
    meshes = {name: Mesh.assembly.text(mesh) for name, mesh in values.meshes.items()}
    return {"title": title, "meshes": meshes}


def _changes(changes: Sequence[ShardingChange]) -> list[dict[str, object]]:
    """The role of the value, once, and its name, type and sharding in each program that has it."""
    return [
        {
            **_identity(change.value),
            "before": _in_program(change.before),
            "after": _in_program(change.after),
        }
        for change in changes
    ]


def _value(value: ProgramValue) -> dict[str, object]:
    return {**_identity(value), **(_in_program(value) or {})}


def _identity(value: ProgramValue) -> dict[str, object]:
    return {
        "role": value.role,
        "label": value.label,
        "operation": value.op,
        "location": value.location._asdict(),
    }


def _in_program(value: ProgramValue | None) -> dict[str, object] | None:
    if value is None:
        return None
    return {
        "function": value.function,
        "value": value.name,
        "type": value.type,
        "sharding": None if value.sharding is None else value.sharding.text,
        "bytes": value.bytes,
    }


def _json_costs(costs: CostChanges) -> dict[str, object]:
    return {
        "wire_bytes": _total(costs.wire_bytes),
        "collectives": _pair(*costs.collectives),
        "peak_memory": _total(costs.peak_memory),
        "argument_memory": _pair(*costs.argument_memory),
        "flops": _total(costs.flops),
        "time": dict(zip(("before", "after"), map(_seconds, costs.times), strict=True)),
    }


def _seconds(times: TimeRange | None) -> list[float] | None:
    return None if times is None else [number(seconds) for seconds in times]


def _total(total: TotalChange) -> dict[str, object]:
    return {**_pair(total.before, total.after), "changes": list(map(_figure, total.parts))}


def _figure(change: FigureChange) -> dict[str, object]:
    """A figure that only one program has is null in the other, as an unknown one is."""
    return {
        "kind": change.kind,
        "before": None if change.is_new else change.before,
        "after": None if change.is_gone else change.after,
        "is_new": change.is_new,
        "is_gone": change.is_gone,
        "count": change.count,
        "location": change.location._asdict(),
        "cause": change.cause,
    }


def _pair(before: int, after: int) -> dict[str, int]:
    return {"before": before, "after": after}


def text_comparison(
    comparison: ProgramComparison, width: int = DEFAULT_WIDTH, rows: int | None = None
) -> str:
    """The comparison as text of at most `width` columns; `rows` limits every table, None shows all."""
    lines = text_section_lines(header_of(comparison), sections_of(comparison), max(width, MIN_WIDTH), rows)
    return "".join(line.rstrip() + "\n" for line in lines)


def markdown_comparison(comparison: ProgramComparison) -> str:
    """The comparison as GitHub-flavoured Markdown."""
    header = [f"{markdown_text(line)}  " for line in header_of(comparison)]
    return "\n".join([*header, "", *folded_lines(sections_of(comparison))]) + "\n"


def _html(comparison: ProgramComparison) -> str:
    from sdyopt.analysis.comparison.html_comparison import html_comparison

    return html_comparison(comparison)


_WRITERS: dict[str, Callable[[ProgramComparison], str]] = {
    ".html": _html,
    ".json": json_comparison,
    ".md": markdown_comparison,
    ".txt": text_comparison,
}


def check_comparison_format(path: str) -> None:
    """Raises UsageError unless a format of comparisons has the suffix of this path."""
    check_suffix(path, _WRITERS, "comparison")


def comparison_text(comparison: ProgramComparison, path: str) -> str:
    """The text of a comparison file, in the format of its suffix."""
    text = _WRITERS[PurePath(path).suffix](comparison)
    # Names of files in locations may be any bytes; readers of these formats require UTF-8.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
