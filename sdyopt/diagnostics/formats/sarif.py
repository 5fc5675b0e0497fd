"""Diagnostics as a SARIF 2.1.0 log, the format of code scanning.

Usage errors, file errors and internal errors are notifications of the invocation; all other diagnostics are
results.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import quote

from sdyopt.diagnostics.diagnostic import Severity
from sdyopt.diagnostics.formats.json_document import Json, dump
from sdyopt.diagnostics.formats.run_summary import RunSummary
from sdyopt.diagnostics.formats.shown_position import primary_position, secondary_position
from sdyopt.diagnostics.ids import FILE_ERROR, INTERNAL_ERROR, USAGE_ERROR, summary
from sdyopt.diagnostics.records import Position, Record

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.REMARK: "note",
    Severity.NOTE: "note",
}
_NOTIFICATIONS = {
    USAGE_ERROR: "toolConfigurationNotifications",
    FILE_ERROR: "toolExecutionNotifications",
    INTERNAL_ERROR: "toolExecutionNotifications",
}


def to_sarif(records: Sequence[Record], run: RunSummary) -> str:
    """The log, which ends with a newline."""
    invocation: Json = {
        "executionSuccessful": not any(record.id in _NOTIFICATIONS for record in records),
        "exitCode": run.exit_code,
    }
    for kind in dict.fromkeys(_NOTIFICATIONS.values()):
        if found := [_notification(each) for each in records if _NOTIFICATIONS.get(each.id) == kind]:
            invocation[kind] = found
    results = [record for record in records if record.id not in _NOTIFICATIONS]
    rules = list(dict.fromkeys(record.id for record in results))
    driver = {"name": "sdy-opt", "version": run.version, "rules": [_rule(id) for id in rules]}
    log = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_result(record, rules.index(record.id), run) for record in results],
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [log]})


def _rule(id: str) -> Json:
    return {"id": id, "shortDescription": {"text": summary(id)}}


def _notification(record: Record) -> Json:
    text = f"{record.message}\nhelp: {record.help}" if record.help else record.message
    return {"descriptor": {"id": record.id}, "level": "error", "message": {"text": text}}


def _result(record: Record, rule_index: int, run: RunSummary) -> Json:
    text = f"{record.message}\nhelp: {record.help}" if record.help else record.message
    result: Json = {
        "ruleId": record.id,
        "ruleIndex": rule_index,
        "level": _LEVELS[record.severity],
        "message": {"text": text},
    }
    if (first := primary_position(record, run)) is not None:
        result["locations"] = [_location(first, run, _logical_locations(record))]
    related = [_related("the same operation", secondary_position(record, run), run)]
    related += [_related(note.message, primary_position(note, run), run) for note in record.notes]
    if located := [each for each in related if each is not None]:
        result["relatedLocations"] = [{"id": number, **each} for number, each in enumerate(located)]
    properties = {"pass": record.pass_flag, "operation": record.operation}
    named: Json = {name: value for name, value in properties.items() if value}
    if record.is_promoted:
        named["promoted"] = True
    if unlocated := [note.message for note in record.notes if primary_position(note, run) is None]:
        named["notes"] = unlocated
    if named:
        result["properties"] = named
    return result


def _logical_locations(record: Record) -> list[Json]:
    return [{"fullyQualifiedName": record.name}] if record.name else []


def _related(message: str, position: Position | None, run: RunSummary) -> Json | None:
    return None if position is None else {**_location(position, run), "message": {"text": message}}


def _location(position: Position, run: RunSummary, logical: Sequence[Json] = ()) -> Json:
    physical: Json = {"artifactLocation": _artifact(run.shown(position.file))}
    if position.line:
        physical["region"] = _region(position)
    location: Json = {"physicalLocation": physical}
    if logical:
        location["logicalLocations"] = list(logical)
    return location


def _artifact(file: str) -> Json:
    uri = quote(file.encode("utf-8", "surrogateescape"), safe="/")
    if PurePath(file).is_absolute():
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _region(position: Position) -> Json:
    region: Json = {"startLine": position.line}
    column, end_column = position.characters or (position.column, position.end_column)
    if column:
        region["startColumn"] = column
    if position.end_line is not None and end_column is not None and column:
        region["endLine"], region["endColumn"] = position.end_line, end_column
    return region
