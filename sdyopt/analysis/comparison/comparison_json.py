"""A comparison as JSON. Within a version of the schema, fields are never removed or redefined."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sdyopt.analysis.comparison.comparison import Comparison, ShardingChange
from sdyopt.analysis.comparison.cost_changes import CostChanges, FigureChange, TotalChange
from sdyopt.analysis.comparison.program_values import ProgramValue, ProgramValues
from sdyopt.mlir.dialects.sdy.mesh import Mesh

SCHEMA = "sdy-opt-comparison"
VERSION = 1


def json_comparison(found: Comparison) -> str:
    """The comparison as JSON text."""
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "is_empty": found.is_empty,
        "assumptions": list(found.assumptions),
        "before": _program(found.titles[0], found.before),
        "after": _program(found.titles[1], found.after),
        "matched": found.matched,
        "retyped": found.retyped,
        "annotations": _changes(found.annotations),
        "shardings": _changes(found.placements),
        "openness": _changes(found.openness),
        "only_before": list(map(_value, found.only_before)),
        "only_after": list(map(_value, found.only_after)),
        "copied_constants": found.copies,
        "costs": None if found.costs is None else _costs(found.costs),
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _program(title: str, values: ProgramValues) -> dict[str, object]:
    meshes = {name: Mesh.assembly.text(mesh) for name, mesh in values.meshes.items()}
    return {"title": title, "meshes": meshes}


def _changes(changes: Sequence[ShardingChange]) -> list[dict[str, object]]:
    """What the value is, once, and its name, type and sharding in each program that has it."""
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


def _costs(costs: CostChanges) -> dict[str, object]:
    return {
        "wire_bytes": _total(costs.wire_bytes),
        "collectives": _pair(*costs.collectives),
        "peak_memory": _total(costs.peak_memory),
        "argument_memory": _pair(*costs.argument_memory),
        "flops": _total(costs.flops),
    }


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
