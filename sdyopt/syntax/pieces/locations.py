"""Reading locations."""

from __future__ import annotations

from typing import Any

from sdyopt.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    Location,
    NameLoc,
    UnknownLoc,
    fused,
)
from sdyopt.ir.attribute import LocationAttr
from sdyopt.syntax.pieces.dialects import dialect_symbol
from sdyopt.syntax.pieces.reader import Reader, action
from sdyopt.syntax.strings import unescape

_UNKNOWN = UnknownLoc()


@action("located")
def _located(_reader: Reader, parts: list[Any], _places: list[int]) -> Location:
    location: Location = parts[2]
    return location


@action("unknown")
def _unknown(_reader: Reader, _parts: list[Any], _places: list[int]) -> Location:
    return _UNKNOWN


@action("name_location")
def _name_location(_reader: Reader, parts: list[Any], _places: list[int]) -> Location:
    return NameLoc(_text(parts[0]), parts[2] if len(parts) == 4 else _UNKNOWN)


@action("file_location")
def _file_location(reader: Reader, parts: list[Any], places: list[int]) -> Location:
    line = _line(reader, parts[2], places[2])
    column = _column(reader, parts[4], places[4]) if len(parts) == 5 else 0
    return FileLoc(_file(parts[0]), line, column)


@action("file_line_range")
def _file_line_range(reader: Reader, parts: list[Any], places: list[int]) -> Location:
    line, column = _line(reader, parts[2], places[2]), _column(reader, parts[4], places[4])
    return _file_range(_file(parts[0]), line, column, line, _column(reader, parts[7], places[7]))


@action("file_range")
def _whole_file_range(reader: Reader, parts: list[Any], places: list[int]) -> Location:
    line, column = _line(reader, parts[2], places[2]), _column(reader, parts[4], places[4])
    end = _line(reader, parts[6], places[6]), _column(reader, parts[8], places[8])
    return _file_range(_file(parts[0]), line, column, *end)


def _file_range(file: str, line: int, column: int, end_line: int, end_column: int) -> Location:
    if (line, column) == (end_line, end_column):
        return FileLoc(file, line, column)
    return FileRange(file, line, column, end_line, end_column)


@action("callsite")
def _callsite(_reader: Reader, parts: list[Any], _places: list[int]) -> Location:
    return CallSite(parts[2], parts[4])


@action("fused")
def _fused(_reader: Reader, parts: list[Any], _places: list[int]) -> Location:
    return fused(parts[2] if len(parts) == 4 else ())


@action("fused_with_metadata")
def _fused_with_metadata(_reader: Reader, parts: list[Any], _places: list[int]) -> Location:
    return fused(parts[5] if len(parts) == 7 else (), parts[2])


@action("location_alias")
@action("dialect_location")
def _location_alias(reader: Reader, parts: list[Any], places: list[int]) -> Location:
    found = dialect_symbol(reader, parts, places).attribute_of(reader, None)
    if not isinstance(found, LocationAttr):
        text = reader.speller.attribute(found)
        raise reader.error_ahead(f"expected location attribute, but got{text}")
    return found.location


def _text(literal: str) -> str:
    return unescape(literal[1:-1])


def _file(literal: str) -> str:
    # A place in no file is one in what is read from the standard input.
    return _text(literal) or "-"


def _line(reader: Reader, digits: str, place: int) -> int:
    return _number(reader, digits, place, "line")


def _column(reader: Reader, digits: str, place: int) -> int:
    return _number(reader, digits, place, "column")


def _number(reader: Reader, digits: str, place: int, what: str) -> int:
    value = int(digits[:30], 16 if digits[1:2] == "x" else 10)
    if value >> 32:
        raise reader.misplaced(f"expected integer {what} number in FileLineColRange", place)
    return value
