"""Formats of diagnostics for tools: JSON, SARIF, and the annotations of GitHub Actions. Imported on use.

docs/diagnostics.md describes the fields of the JSON document. Workflow commands of GitHub Actions annotate
the lines of a pull request:

    ::error file=model.mlir,line=3,col=8,title=parse-error::expected attribute value

SARIF 2.1.0 is the format of code scanning. In its log, usage errors, file errors and internal errors are
notifications of the invocation; all other diagnostics are results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import PurePath
from urllib.parse import quote

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import (
    FILE_ERROR,
    INTERNAL_ERROR,
    OTHER,
    USAGE_ERROR,
    operation_name,
    summary,
)
from sdyopt.base.diagnostics.location import (
    FileRange,
    Location,
    NameLoc,
    Source,
    call_stack,
    resolve_file_location,
)


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a file, or a range with an exclusive end. Lines and columns start at 1; 0 is unknown.

    Columns count bytes; `characters` is the column and the end column in characters, where the text is known.
    """

    file: str
    line: int
    column: int
    end_line: int | None = None
    end_column: int | None = None
    characters: tuple[int, int | None] | None = None

    def properties_of(self, run: RunSummary) -> dict[str, str]:
        properties = {"file": run.shown(self.file)}
        if self.line:
            properties["line"] = str(self.line)
        if self.line and self.column:
            properties["col"] = str(self.characters[0] if self.characters else self.column)
        return properties

    def physical_location(self, run: RunSummary, logical: Sequence[Json] = ()) -> Json:
        physical: Json = {"artifactLocation": _artifact(run.shown(self.file))}
        if self.line:
            physical["region"] = self._region()
        location: Json = {"physicalLocation": physical}
        if logical:
            location["logicalLocations"] = list(logical)
        return location

    def _region(self) -> Json:
        region: Json = {"startLine": self.line}
        column, end_column = self.characters or (self.column, self.end_column)
        if column:
            region["startColumn"] = column
        if self.end_line is not None and end_column is not None and column:
            region["endLine"], region["endColumn"] = self.end_line, end_column
        return region


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note. Its two locations are as in a `Record`."""

    message: str
    location: Position | None
    input_location: Position | None

    def note(self) -> Json:
        return {
            "message": self.message,
            "location": _position(self.location),
            "input_location": _position(self.input_location),
        }


@dataclass(frozen=True, slots=True)
class Record:
    """A diagnostic.

    `location` is from the source locations of the program, such as a line of Python; `input_location` is in
    the input file. They are equal for a program without source locations. `name` is that of the outermost
    named location. `is_promoted`: a warning that is an error because of --werror.
    """

    id: str
    severity: Severity
    message: str
    location: Position | None
    input_location: Position | None
    name: str = ""
    pass_flag: str = ""
    operation: str = ""
    notes: tuple[NoteRecord, ...] = ()
    help: str = ""
    is_promoted: bool = False

    def diagnostic(self) -> Json:
        return {
            "id": self.id,
            "severity": self.severity.value,
            "promoted": self.is_promoted,
            "message": self.message,
            "location": _position(self.location),
            "input_location": _position(self.input_location),
            "name": self.name or None,
            "pass": self.pass_flag or None,
            "operation": self.operation or None,
            "notes": [note.note() for note in self.notes],
            "help": self.help or None,
        }


def record(diagnostic: Diagnostic, source: Source | None = None, is_promoted: bool = False) -> Record:
    """The record of a diagnostic. `source` is the input."""
    location = diagnostic.location
    named, in_input = _positions(location, source)
    if in_input is None and diagnostic.culprit is not None:
        in_input = _positions(diagnostic.culprit, source)[1]
    callers = [NoteRecord("called from", *_positions(caller, source)) for caller in call_stack(location)]
    notes = [NoteRecord(note.message, *_positions(note.location, source)) for note in diagnostic.notes]
    return Record(
        diagnostic.id or OTHER,
        Severity.ERROR if is_promoted else diagnostic.severity,
        diagnostic.message,
        named,
        in_input,
        next((part.name for part in location.walk() if isinstance(part, NameLoc)), ""),
        diagnostic.pass_flag,
        operation_name(diagnostic),
        (*callers, *notes),
        diagnostic.help,
        is_promoted,
    )


def _positions(location: Location, source: Source | None) -> tuple[Position | None, Position | None]:
    """The position that a location names, and the one in the input, if known."""
    resolved = resolve_file_location(location)
    if resolved is None:
        return None, None
    end_line = end_column = None
    if isinstance(resolved, FileRange):
        end_line, end_column = resolved.end_line, resolved.end_column
    if source is None or resolved.file != source.name:
        return Position(resolved.file, resolved.line, resolved.column, end_line, end_column), None
    start = _character_column(source, resolved.line, resolved.column)
    end = None if end_column is None else _character_column(source, end_line or 0, end_column)
    position = Position(resolved.file, resolved.line, resolved.column, end_line, end_column, (start, end))
    return position, position


def _character_column(source: Source, line: int, column: int) -> int:
    """Converts a column in bytes to one in characters."""
    if not 1 <= line <= source.line_count:
        return column
    before = source.line_text(line).encode("utf-8", "surrogateescape")[: max(0, column - 1)]
    return len(before.decode("utf-8", "ignore")) + 1


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The input, the exit status, and how file names are shown.

    Tools that show diagnostics beside the code expect names relative to `root`, the root of the repository,
    if it is known. They show nothing for a file that does not exist, so `exists` decides which of the two
    locations of a diagnostic comes first.
    """

    version: str
    input: str
    exit_code: int
    root: str = ""
    exists: Callable[[str], bool] = os.path.exists

    def shown(self, file: str) -> str:
        """The name of a file, relative to the root of the repository if it is inside."""
        if not self.root:
            return file
        relative = os.path.relpath(file, self.root)
        return file if relative.startswith("..") else relative.replace(os.sep, "/")


# Neither is a file that a tool could open.
STDIN_NAMES = ("-", "<stdin>")


def primary_position(record: Record | NoteRecord, run: RunSummary) -> Position | None:
    """The position at which a tool shows a diagnostic: the first in an existing file, else the first one."""
    positions = _distinct_positions(record)
    existing = [position for position in positions if run.exists(position.file)]
    return next(iter([*existing, *positions]), None)


def secondary_position(record: Record, run: RunSummary) -> Position | None:
    """The other position, if there are two."""
    first = primary_position(record, run)
    return next((position for position in _distinct_positions(record) if position is not first), None)


def note_line(note: NoteRecord, run: RunSummary) -> str:
    """A note as a line of text."""
    position = primary_position(note, run)
    if position is None:
        return f"note: {note.message}"
    return f"{run.shown(position.file)}:{position.line}:{position.column}: note: {note.message}"


def _distinct_positions(record: Record | NoteRecord) -> list[Position]:
    """The distinct positions, without those in stdin."""
    locations = dict.fromkeys((record.location, record.input_location))
    return [location for location in locations if location is not None and location.file not in STDIN_NAMES]


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
        "diagnostics": [record.diagnostic() for record in records],
    }
    return dump(document)


def dump(document: Json) -> str:
    """JSON text in ASCII. Surrogates, for bytes that are not UTF-8 in the name of a file, become U+FFFD."""
    import json  # noqa: PLC0415  slow to import, and rarely used

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


_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.REMARK: "notice",
    Severity.NOTE: "notice",
}


def to_github(records: Sequence[Record], run: RunSummary) -> str:
    """One command a line."""
    return "".join(_command(record, run) for record in records)


def _command(record: Record, run: RunSummary) -> str:
    position = primary_position(record, run)
    properties = {} if position is None else position.properties_of(run)
    properties["title"] = record.id
    listed = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[record.severity]} {listed}::{_escape(_body(record, run))}\n"


def _body(record: Record, run: RunSummary) -> str:
    lines = [record.message + (" [--werror]" if record.is_promoted else "")]
    if (other := secondary_position(record, run)) is not None:
        lines.append(f"at {run.shown(other.file)}:{other.line}:{other.column}")
    if record.pass_flag:
        lines.append(f"in pass {record.pass_flag}")
    lines += [note_line(note, run) for note in record.notes]
    if record.help:
        lines.append(f"help: {record.help}")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """The text of a message: one line, without control characters, which a viewer would decode from `%0D`."""
    lines = text.replace("\r\n", "\n")
    clean = "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in lines)
    return clean.replace("%", "%25").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
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
        if notifications := [
            _notification(record) for record in records if _NOTIFICATIONS.get(record.id) == kind
        ]:
            invocation[kind] = notifications
    results = [record for record in records if record.id not in _NOTIFICATIONS]
    rules = list(dict.fromkeys(record.id for record in results))
    driver = {"name": "sdy-opt", "version": run.version, "rules": [_rule(id) for id in rules]}
    log = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_result(record, rules.index(record.id), run) for record in results],
    }
    return dump({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [log]})


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
        result["locations"] = [
            first.physical_location(run, [{"fullyQualifiedName": record.name}] if record.name else [])
        ]
    related = [_related("the same operation", secondary_position(record, run), run)]
    related += [_related(note.message, primary_position(note, run), run) for note in record.notes]
    if located := [location for location in related if location is not None]:
        result["relatedLocations"] = [{"id": number, **location} for number, location in enumerate(located)]
    properties = {"pass": record.pass_flag, "operation": record.operation}
    named: Json = {name: value for name, value in properties.items() if value}
    if record.is_promoted:
        named["promoted"] = True
    if unlocated := [note.message for note in record.notes if primary_position(note, run) is None]:
        named["notes"] = unlocated
    if named:
        result["properties"] = named
    return result


def _related(message: str, position: Position | None, run: RunSummary) -> Json | None:
    return None if position is None else {**position.physical_location(run), "message": {"text": message}}


def _artifact(file: str) -> Json:
    uri = quote(file.encode("utf-8", "surrogateescape"), safe="/")
    if PurePath(file).is_absolute():
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


# The text of the diagnostics of a run, by the name of the format.
FORMATS: dict[str, Callable[[Sequence[Record], RunSummary], str]] = {
    "json": to_json,
    "github": to_github,
    "sarif": to_sarif,
}
