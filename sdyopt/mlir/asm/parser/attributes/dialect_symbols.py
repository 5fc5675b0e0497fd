"""Dialect attributes and types, aliases, and locations.

In `#namespace.mnemonic<…>` and `#namespace<mnemonic…>`, a registered dialect parses the body after the
mnemonic. The body of an unregistered dialect is stored as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    Location,
    NameLoc,
    UnknownLoc,
    fused,
)
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import BARE_ID, body_extent, unescape
from sdyopt.mlir.asm.parser.asm_parser import KEYWORD, AsmParser
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Parts, action
from sdyopt.mlir.ir.attribute import Attribute, LocationAttr, OpaqueAttr, Type
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.types import NONE, OpaqueType

_NO_PARSERS = ErrorKind("dialect '{dialect}' provides no {what} parsing hook", help="{help}")

T = TypeVar("T")

# `#dialect.mnemonic` before `<`.
_PRETTY_ATTRIBUTE = constant_pattern(rf"#([A-Za-z$_][A-Za-z0-9_$-]*)\.({BARE_ID})(?=<)")

_UNREGISTERED = (
    " created with unregistered dialect. If this is intended, please call "
    "allowUnregisteredDialects() on the MLIRContext, or use -allow-unregistered-dialect with the MLIR "
    "opt tool used"
)
_UNREGISTERED_ATTRIBUTE = ErrorKind(
    """#"{name}"<"{body}"> : '{type}' attribute""" + _UNREGISTERED, explain="dialect of attribute"
)


def parse_dialect_attribute(context: ActionContext, text: str, offset: int) -> Attribute | None:
    """Parses `#dialect.mnemonic<…>` with the dialect's parser; None if it needs the grammar.

    Raises what the dialect's parser raises.
    """
    match = _PRETTY_ATTRIBUTE.match(text)
    # The grammar does not treat `//` in the body as a comment, but the dialect's parser does.
    if match is None or text[-1] != ">" or "//" in text:
        return None
    dialect = context.environment.dialects.find(match[1])
    parse = None if dialect is None else dialect.attribute_parsers.get(match[2])
    if parse is None:
        return None
    try:
        return parse(AsmParser(context.source, context.attribute_parser, offset + match.end()))
    except DiagnosticError:
        if body_extent(text, match.end()) != len(text):
            return None  # The brackets do not match, which is the error to report.
        raise


@dataclass(frozen=True, slots=True)
class DialectSymbol:
    """`#namespace.body` or `#namespace<body>`, or the same with `!`; an alias has no body.

    `offset` is that of the symbol or, for an alias, of its end, where MLIR reports that it is undefined.
    """

    namespace: str
    body: str | None
    offset: int
    body_offset: int

    def attribute_of(self, context: ActionContext, type: Type | None) -> Attribute:
        """The attribute of this symbol, which has a type if it is opaque."""
        dialect = context.environment.dialects.find(self.namespace)
        if self.body is None:
            return context.environment.attribute_alias(self.namespace, self.offset)
        if dialect is not None and not self._is_of_other_part(context, dialect, dialect.attribute_parsers):
            return self._parse(context, dialect, dialect.attribute_parsers, "attribute")
        if not context.environment.allow_unregistered:
            text = context.attribute_printer.type(type or NONE)
            message = _UNREGISTERED_ATTRIBUTE(name=self.namespace, body=self.body, type=text)
            raise context.error(message, self.body_offset)
        return OpaqueAttr(self.namespace, self.body, type)

    def as_type(self, context: ActionContext) -> Type:
        """The type of this symbol."""
        dialect = context.environment.dialects.find(self.namespace)
        if self.body is None:
            return context.environment.type_alias(self.namespace, self.offset)
        if dialect is not None and not self._is_of_other_part(context, dialect, dialect.type_parsers):
            return self._parse(context, dialect, dialect.type_parsers, "type")
        if not context.environment.allow_unregistered:
            text = f'`!"{self.namespace}"<"{self.body}">` type'
            raise context.error(text + _UNREGISTERED, self.body_offset)
        return OpaqueType(self.namespace, self.body)

    def _is_of_other_part(
        self, context: ActionContext, dialect: Dialect, parsers: Mapping[str, Callable[..., object]]
    ) -> bool:
        """Whether this may be a symbol that a dialect has, of which only a part is known."""
        assert self.body is not None
        if not dialect.is_partial or not context.environment.allow_unregistered:
            return False
        mnemonic = KEYWORD.match(self.body)
        return mnemonic is not None and mnemonic[1] not in parsers

    def _parse(
        self, context: ActionContext, dialect: Dialect, parsers: dict[str, Callable[..., T]], kind: str
    ) -> T:
        if not parsers:
            message = _NO_PARSERS(dialect=dialect.name, what=kind, help=dialect.hints.get(f"{kind}s", ""))
            raise context.error(message, self.body_offset)
        parser = AsmParser(context.source, context.attribute_parser, self.body_offset)
        start = parser.skip_trivia()
        mnemonic = KEYWORD.match(parser.text, start)
        if mnemonic is None:
            raise parser.wrong_token_error("expected valid keyword")
        parse = parsers.get(mnemonic[1])
        if parse is None:
            unknown = dialect.unknown_attribute if kind == "attribute" else dialect.unknown_type
            raise context.error(unknown(mnemonic=mnemonic[1], dialect=dialect.name, what=kind), start)
        parser.position = mnemonic.end()
        return parse(parser)


@action("bare_dialect_attribute")
@action("dialect_attribute")
def dialect_symbol(_context: ActionContext, parts: Parts, offsets: list[int]) -> DialectSymbol:
    """The symbol of `#name` or `!name` and the `<…>` after it: the namespace ends at the first dot."""
    namespace, dot, rest = parts[0][1:].partition(".")
    if not dot and len(parts) == 1:
        return DialectSymbol(namespace, None, offsets[0] + len(parts[0]), 0)
    if not dot:
        return DialectSymbol(namespace, parts[1], offsets[0], offsets[1] + 1)
    body = f"{rest}<{parts[1]}>" if len(parts) == 2 else rest
    return DialectSymbol(namespace, body, offsets[0], offsets[0] + len(namespace) + 2)


@action("bare_dialect_type")
@action("dialect_type")
def _dialect_type(context: ActionContext, parts: Parts, offsets: list[int]) -> Type:
    return dialect_symbol(context, parts, offsets).as_type(context)


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
