"""Reads texts as pieces of their own, with a few aliases in force and no dialect known."""

from typing import TypeVar

from sdyopt.asm.parser.attributes import AttributeParser
from sdyopt.asm.parser.extent_scanner import attribute_extent, location_extent, type_extent
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.location import FileLoc, Location, NameLoc
from sdyopt.diagnostics.source import Source
from sdyopt.ir.attribute import Attribute, LocationAttr, string
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.types import F32, Type

T = TypeVar("T")

_ATTRIBUTES: dict[str, Attribute] = {"word": string("w"), "place": LocationAttr(NameLoc("p"))}
_TYPES: dict[str, Type] = {"word": F32}


class Surroundings:
    """Only `#word`, `#place` and `!word` are defined."""

    dialects = DialectTable(lambda _: None)

    def __init__(self, source: Source, allow_unregistered: bool) -> None:
        self.allow_unregistered = allow_unregistered
        self._source = source

    def find_attribute_alias(self, name: str) -> Attribute | None:
        return _ATTRIBUTES.get(name)

    def attribute_alias(self, name: str, offset: int) -> Attribute:
        return self._found(_ATTRIBUTES.get(name), name, offset)

    def type_alias(self, name: str, offset: int) -> Type:
        return self._found(_TYPES.get(name), name, offset)

    def _found(self, found: T | None, name: str, offset: int) -> T:
        if found is None:
            message = f"undefined symbol alias id '{name}'"
            raise DiagnosticError.at(self._source.location(offset), message)
        return found


def pieces(text: str, uses_fast_path: bool = True, allow_unregistered: bool = True) -> AttributeParser:
    source = Source("test", text)
    return AttributeParser(source, Surroundings(source, allow_unregistered), uses_fast_path)


def read_attribute(text: str, uses_fast_path: bool = True, type: Type | None = None) -> Attribute:
    end = attribute_extent(text, 0, takes_type=type is None) or len(text)
    return pieces(text, uses_fast_path).attribute(text[:end], 0, type)


def read_type(text: str, uses_fast_path: bool = True) -> Type:
    return pieces(text, uses_fast_path).type(text[: type_extent(text, 0) or len(text)], 0)


def read_location(text: str) -> Location:
    return pieces(text).location(text[: location_extent(text, 0)], 0)


def complaint(error: DiagnosticError) -> str:
    """The place and the message of an error."""
    place = error.diagnostic.location
    assert isinstance(place, FileLoc)
    return f"{place.line}:{place.column}: {error.diagnostic.message}"
