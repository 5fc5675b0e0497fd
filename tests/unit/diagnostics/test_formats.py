"""Diagnostics in the formats of tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.formats import FORMATS, Record, RunSummary, record
from sdyopt.base.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    Location,
    NameLoc,
    Source,
    UnknownLoc,
)

INPUT = Source("in.mlir", 'func.func @f()\n  "é" %x\n')


def run(root: str = "", existing: tuple[str, ...] = ("in.mlir", "model.py")) -> RunSummary:
    return RunSummary("1.0", INPUT.name, 1, root, lambda file: file in existing)


def made(location: Location, message: str = "wrong", **fields: Any) -> Record:
    return record(Diagnostic(Severity.ERROR, location, message, id="parse-error", **fields), INPUT)


def github(
    location: Location, message: str = "wrong", summary: RunSummary | None = None, **fields: Any
) -> str:
    return FORMATS["github"]([made(location, message, **fields)], summary or run())


def sarif(*records: Record) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(FORMATS["sarif"](records, run()))
    return log


# --- Records ------------------------------------------------------------------------------


def test_a_location_in_the_input_is_both_locations() -> None:
    found = made(FileLoc("in.mlir", 1, 3))
    assert found.location == found.input_location is not None


def test_a_location_in_the_python_source_is_not_in_the_input() -> None:
    found = made(NameLoc("jit(f)/add", FileLoc("model.py", 7, 2)))
    assert found.location is not None
    assert (found.location.file, found.location.line, found.input_location) == ("model.py", 7, None)
    assert found.name == "jit(f)/add"


def test_columns_count_bytes_and_are_known_in_characters() -> None:
    """`é` has two bytes."""
    [location] = {made(FileRange("in.mlir", 2, 8, 2, 10)).location}
    assert location is not None
    assert (location.column, location.end_column, location.characters) == (8, 10, (7, 9))


def test_callers_are_notes() -> None:
    [note] = made(CallSite(FileLoc("in.mlir", 1, 1), FileLoc("in.mlir", 2, 3))).notes
    assert note.message == "called from"


def test_a_diagnostic_without_an_id_has_the_last_one() -> None:
    assert record(Diagnostic(Severity.ERROR, UnknownLoc(), "wrong")).id == "other"


# --- GitHub -------------------------------------------------------------------------------


def test_a_workflow_command_names_file_line_and_column() -> None:
    assert github(FileLoc("in.mlir", 2, 8)) == "::error file=in.mlir,line=2,col=7,title=parse-error::wrong\n"


def test_a_diagnostic_without_a_location_has_a_title_only() -> None:
    assert github(UnknownLoc()) == "::error title=parse-error::wrong\n"
    assert github(FileLoc("<stdin>", 3, 1)) == "::error title=parse-error::wrong\n"


@pytest.mark.parametrize(
    ("message", "escaped"),
    [
        ("50% of %0", "50%25 of %250"),
        ("two\nlines", "two%0Alines"),
        ("return\r\n", "return%0A"),
        ("back\rspace", "back\ufffdspace"),
        ("a: b, c", "a: b, c"),
        ("%0A is not a newline", "%250A is not a newline"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("a\n::error::b", "a%0A::error::b"),
    ],
)
def test_messages_are_escaped(message: str, escaped: str) -> None:
    assert github(UnknownLoc(), message) == f"::error title=parse-error::{escaped}\n"


def test_commas_and_colons_of_properties_are_escaped_as_well() -> None:
    assert "file=a%2Cb%3Ac%25.py,line=1,col=1" in github(FileLoc("a,b:c%.py", 1, 1))


def test_a_whole_file_has_no_line() -> None:
    assert github(FileLoc("in.mlir", 0, 0)) == "::error file=in.mlir,title=parse-error::wrong\n"
    [result] = sarif(made(FileLoc("in.mlir", 0, 0)))["runs"][0]["results"]
    [location] = result["locations"]
    assert list(location["physicalLocation"]) == ["artifactLocation"]


def test_notes_and_help_are_in_the_message() -> None:
    note = Diagnostic(Severity.NOTE, FileLoc("in.mlir", 1, 1), "defined here")
    command = github(FileLoc("in.mlir", 2, 3), notes=[note], help="write less", pass_flag="cse")
    assert command.endswith("::wrong%0Ain pass cse%0Ain.mlir:1:1: note: defined here%0Ahelp: write less\n")


def test_files_are_relative_to_the_repository() -> None:
    location = FileLoc("/repo/src/model.py", 1, 1)
    assert "file=src/model.py," in github(location, summary=run("/repo"))
    assert "file=/repo/src/model.py," in github(location, summary=run("/other"))


# --- JSON ---------------------------------------------------------------------------------


def test_json_has_all_fields_and_null_for_those_without_a_value() -> None:
    document = json.loads(FORMATS["json"]([made(UnknownLoc())], run()))
    [diagnostic] = document.pop("diagnostics")
    assert document == {
        "schema": "sdy-opt-diagnostics",
        "version": 1,
        "tool": {"name": "sdy-opt", "version": "1.0"},
        "input": "in.mlir",
        "exit_code": 1,
    }
    assert diagnostic == {
        "id": "parse-error",
        "severity": "error",
        "promoted": False,
        "message": "wrong",
        "location": None,
        "input_location": None,
        "name": None,
        "pass": None,
        "operation": None,
        "notes": [],
        "help": None,
    }


def test_json_is_ascii_and_valid_for_names_that_are_not_utf8() -> None:
    text = FORMATS["json"]([made(FileLoc("caf\udce9.py", 1, 1))], run())
    assert text.isascii()
    assert json.loads(text)["diagnostics"][0]["location"]["file"] == "caf\ufffd.py"


# --- SARIF --------------------------------------------------------------------------------

# The part of SARIF 2.1.0 that is written: objects with their properties, of which those with ! are required,
# and arrays of one kind of elements.
REGION = {"!startLine": int, "startColumn": int, "endLine": int, "endColumn": int}
LOCATION = {
    "id": int,
    "physicalLocation": {
        "!artifactLocation": {"!uri": str, "uriBaseId": str},
        "region": REGION,
    },
    "logicalLocations": [{"fullyQualifiedName": str}],
    "message": {"!text": str},
}
NOTIFICATION = {"descriptor": {"!id": str}, "level": str, "!message": {"!text": str}}
RESULT = {
    "ruleId": str,
    "ruleIndex": int,
    "level": str,
    "!message": {"!text": str},
    "locations": [LOCATION],
    "relatedLocations": [LOCATION],
    "properties": dict,
}
SARIF = {
    "$schema": str,
    "!version": str,
    "!runs": [
        {
            "!tool": {
                "!driver": {
                    "!name": str,
                    "version": str,
                    "rules": [{"!id": str, "shortDescription": {"!text": str}}],
                }
            },
            "columnKind": str,
            "invocations": [
                {
                    "!executionSuccessful": bool,
                    "exitCode": int,
                    "toolConfigurationNotifications": [NOTIFICATION],
                    "toolExecutionNotifications": [NOTIFICATION],
                }
            ],
            "results": [RESULT],
        }
    ],
}


def check_sarif(value: Any, shape: Any) -> None:
    match shape:
        case dict():
            properties = {name.lstrip("!"): inner for name, inner in shape.items()}
            assert set(value) <= set(properties)
            assert {name[1:] for name in shape if name.startswith("!")} <= set(value)
            for name, inner in value.items():
                check_sarif(inner, properties[name])
        case [element]:
            assert isinstance(value, list)
            for inner in value:
                check_sarif(inner, element)
        case _:
            assert type(value) is shape
            assert shape is not int or value >= 0


def test_sarif_has_the_shape_that_the_specification_requires() -> None:
    note = Diagnostic(Severity.NOTE, FileLoc("in.mlir", 1, 1), "defined here")
    free = Diagnostic(Severity.NOTE, UnknownLoc(), "somewhere")
    records = [
        made(FileRange("in.mlir", 2, 3, 2, 5), notes=[note, free], help="write less", pass_flag="cse"),
        made(NameLoc("f", FileLoc("/a b.py", 1, 0))),
        made(UnknownLoc()),
        made(FileLoc("in.mlir", 0, 0)),
        record(Diagnostic(Severity.WARNING, UnknownLoc(), "careful", id="split-marker"), is_promoted=True),
        record(Diagnostic(Severity.ERROR, UnknownLoc(), "no such flag", help="x", id="usage-error")),
        record(Diagnostic(Severity.ERROR, UnknownLoc(), "no such file", id="file-error")),
    ]
    log = sarif(*records)
    check_sarif(log, SARIF)
    [found] = log["runs"]
    assert [result["ruleId"] for result in found["results"]] == [*["parse-error"] * 4, "split-marker"]
    assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == ["parse-error", "split-marker"]
    assert found["invocations"][0]["executionSuccessful"] is False


def test_sarif_counts_characters_and_escapes_names_of_files() -> None:
    [result] = sarif(made(FileRange("in.mlir", 2, 8, 2, 10)))["runs"][0]["results"]
    [location] = result["locations"]
    assert location["physicalLocation"]["region"] == {
        "startLine": 2,
        "startColumn": 7,
        "endLine": 2,
        "endColumn": 9,
    }
    [result] = sarif(made(FileLoc("/a b/é.py", 1, 1)))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "file:///a%20b/%C3%A9.py"
    }


def test_sarif_of_no_diagnostics_is_an_empty_run() -> None:
    [found] = sarif()["runs"]
    assert (found["results"], found["invocations"][0]["executionSuccessful"]) == ([], True)
