"""Semantic actions of locations."""

from __future__ import annotations

from sdyopt.base.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    Location,
    NameLoc,
    UnknownLoc,
    fused,
)
from sdyopt.mlir.asm.lexical import unescape
from sdyopt.mlir.asm.parser.attributes.dialect_symbols import dialect_symbol
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Parts, action
from sdyopt.mlir.ir.attribute import LocationAttr

_UNKNOWN = UnknownLoc()


@action("located")
def _located(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Location:
    location: Location = parts[2]
    return location


@action("unknown")
def _unknown(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> Location:
    return _UNKNOWN


@action("name_location")
def _name_location(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Location:
    return NameLoc(_text(parts[0]), parts[2] if len(parts) == 4 else _UNKNOWN)


@action("file_location")
def _file_location(context: ActionContext, parts: Parts, offsets: list[int]) -> Location:
    line = _line(context, parts[2], offsets[2])
    column = _column(context, parts[4], offsets[4]) if len(parts) == 5 else 0
    return FileLoc(_file(parts[0]), line, column)


@action("file_line_range")
def _single_line_range(context: ActionContext, parts: Parts, offsets: list[int]) -> Location:
    line, column = _line(context, parts[2], offsets[2]), _column(context, parts[4], offsets[4])
    return _file_range(_file(parts[0]), line, column, line, _column(context, parts[7], offsets[7]))


@action("file_range")
def _multi_line_range(context: ActionContext, parts: Parts, offsets: list[int]) -> Location:
    line, column = _line(context, parts[2], offsets[2]), _column(context, parts[4], offsets[4])
    end = _line(context, parts[6], offsets[6]), _column(context, parts[8], offsets[8])
    return _file_range(_file(parts[0]), line, column, *end)


def _file_range(file: str, line: int, column: int, end_line: int, end_column: int) -> Location:
    if (line, column) == (end_line, end_column):
        return FileLoc(file, line, column)
    return FileRange(file, line, column, end_line, end_column)


@action("callsite")
def _callsite(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Location:
    return CallSite(parts[2], parts[4])


@action("fused")
def _fused(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Location:
    return fused(parts[2] if len(parts) == 4 else ())


@action("fused_with_metadata")
def _fused_with_metadata(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Location:
    return fused(parts[5] if len(parts) == 7 else (), parts[2])


@action("location_alias")
@action("dialect_location")
def _location_alias(context: ActionContext, parts: Parts, offsets: list[int]) -> Location:
    attribute = dialect_symbol(context, parts, offsets).attribute_of(context, None)
    if not isinstance(attribute, LocationAttr):
        text = context.attribute_printer.attribute(attribute)
        raise context.error_at_next_token(f"expected location attribute, but got{text}")
    return attribute.location


def _text(literal: str) -> str:
    return unescape(literal[1:-1])


def _file(literal: str) -> str:
    # As in MLIR, an empty name stands for standard input.
    return _text(literal) or "-"


def _line(context: ActionContext, digits: str, offset: int) -> int:
    return _number(context, digits, offset, "line")


def _column(context: ActionContext, digits: str, offset: int) -> int:
    return _number(context, digits, offset, "column")


def _number(context: ActionContext, digits: str, offset: int, what: str) -> int:
    value = int(digits[:30], 16 if digits[1:2] == "x" else 10)
    if value >> 32:
        raise context.wrong_token_error(f"expected integer {what} number in FileLineColRange", offset)
    return value
