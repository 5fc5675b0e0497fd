"""Diagnostics as workflow commands of GitHub Actions, which annotate the lines of a pull request:

::error file=model.mlir,line=3,col=8,title=parse-error::expected attribute value
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.diagnostics.diagnostic import Severity
from sdyopt.diagnostics.formats.run_summary import RunSummary
from sdyopt.diagnostics.formats.shown_position import note_line, primary_position, secondary_position
from sdyopt.diagnostics.records import Position, Record

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
    properties = {} if position is None else _location(position, run)
    properties["title"] = record.id
    listed = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[record.severity]} {listed}::{_escape(_body(record, run))}\n"


def _location(position: Position, run: RunSummary) -> dict[str, str]:
    properties = {"file": run.shown(position.file)}
    if position.line:
        properties["line"] = str(position.line)
    if position.line and position.column:
        properties["col"] = str(position.characters[0] if position.characters else position.column)
    return properties


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
