"""Parses types, attributes and locations with a few aliases and no registered dialect."""

from typing import TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc, Location, NameLoc, Source
from sdyopt.mlir.asm.lexical import attribute_extent, location_extent, type_extent
from sdyopt.mlir.asm.parser.attributes import AttributeParser
from sdyopt.mlir.ir.attribute import Attribute, LocationAttr, string
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.types import F32, Type

T = TypeVar("T")

_ATTRIBUTES: dict[str, Attribute] = {"word": string("w"), "loc": LocationAttr(NameLoc("p"))}
_TYPES: dict[str, Type] = {"word": F32}


class Aliases:
    """An environment that defines `#word`, `#loc` and `!word`."""

    dialects = DialectTable(lambda _: None)

    def __init__(self, source: Source, allow_unregistered: bool) -> None:
        self.allow_unregistered = allow_unregistered
        self._source = source

    def find_attribute_alias(self, name: str) -> Attribute | None:
        return _ATTRIBUTES.get(name)

    def attribute_alias(self, name: str, offset: int) -> Attribute:
        return self._defined(_ATTRIBUTES.get(name), name, offset)

    def type_alias(self, name: str, offset: int) -> Type:
        return self._defined(_TYPES.get(name), name, offset)

    def _defined(self, value: T | None, name: str, offset: int) -> T:
        if value is None:
            message = f"undefined symbol alias id '{name}'"
            raise DiagnosticError.at(self._source.location(offset), message)
        return value


def attribute_parser(
    text: str, uses_fast_path: bool = True, allow_unregistered: bool = True
) -> AttributeParser:
    source = Source("test", text)
    return AttributeParser(source, Aliases(source, allow_unregistered), uses_fast_path)


def parse_attribute(text: str, uses_fast_path: bool = True, type: Type | None = None) -> Attribute:
    end = attribute_extent(text, 0, takes_type=type is None) or len(text)
    return attribute_parser(text, uses_fast_path).attribute(text[:end], 0, type)


def parse_type(text: str, uses_fast_path: bool = True) -> Type:
    return attribute_parser(text, uses_fast_path).type(text[: type_extent(text, 0) or len(text)], 0)


def parse_location(text: str) -> Location:
    return attribute_parser(text).location(text[: location_extent(text, 0)], 0)


def located_message(error: DiagnosticError) -> str:
    """`line:column: message` of an error."""
    location = error.diagnostic.location
    assert isinstance(location, FileLoc)
    return f"{location.line}:{location.column}: {error.diagnostic.message}"
