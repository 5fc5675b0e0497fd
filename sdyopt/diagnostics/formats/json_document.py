"""Diagnostics as one JSON document. docs/diagnostics.md describes the fields."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sdyopt.diagnostics.formats.run_summary import RunSummary
from sdyopt.diagnostics.records import NoteRecord, Position, Record

SCHEMA = "sdy-opt-diagnostics"
# Incremented when a field changes its meaning or is removed. New fields do not change it.
VERSION = 1

Json = dict[str, object]


def to_json(records: Sequence[Record], run: RunSummary) -> str:
    """The document, which ends with a newline."""
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "tool": {"name": "sdy-opt", "version": run.version},
        "input": run.input or None,
        "exit_code": run.exit_code,
        "diagnostics": [_diagnostic(each) for each in records],
    }
    return dump(document)


def dump(document: Json) -> str:
    """JSON text in ASCII. Surrogates, for bytes that are not UTF-8 in the name of a file, become U+FFFD."""
    return json.dumps(_without_surrogates(document), indent=2) + "\n"


def _without_surrogates(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        case dict():
            return {key: _without_surrogates(inner) for key, inner in value.items()}
        case list():
            return [_without_surrogates(inner) for inner in value]
    return value


def _diagnostic(record: Record) -> Json:
    return {
        "id": record.id,
        "severity": record.severity.value,
        "promoted": record.is_promoted,
        "message": record.message,
        "location": _position(record.location),
        "input_location": _position(record.input_location),
        "name": record.name or None,
        "pass": record.pass_flag or None,
        "operation": record.operation or None,
        "notes": [_note(note) for note in record.notes],
        "help": record.help or None,
    }


def _note(note: NoteRecord) -> Json:
    return {
        "message": note.message,
        "location": _position(note.location),
        "input_location": _position(note.input_location),
    }


def _position(position: Position | None) -> Json | None:
    if position is None:
        return None
    return {
        "file": position.file,
        "line": position.line,
        "column": position.column,
        "end_line": position.end_line,
        "end_column": position.end_column,
    }
