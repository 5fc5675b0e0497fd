"""Types, attributes and locations: text → fact, each text read once.

The commonest spellings are recognised at once (quick.py). All others are parsed by tables that Lark
makes of grammar.lark. Both ways give the same facts.
"""

from __future__ import annotations

from typing import Any, cast

from sdyopt.diagnostics.location import Location
from sdyopt.diagnostics.source import Source
from sdyopt.ir.attribute import Attribute, DictAttr, LocationAttr
from sdyopt.ir.types import Type

# Importing these registers what they read.
from sdyopt.syntax.pieces import affine as _affine
from sdyopt.syntax.pieces import arrays as _arrays
from sdyopt.syntax.pieces import attributes as _attributes
from sdyopt.syntax.pieces import dialects as _dialects
from sdyopt.syntax.pieces import elements as _elements
from sdyopt.syntax.pieces import locations as _locations
from sdyopt.syntax.pieces import sparse as _sparse
from sdyopt.syntax.pieces import types as _types
from sdyopt.syntax.pieces.driver import run
from sdyopt.syntax.pieces.entries import dictionary_at
from sdyopt.syntax.pieces.quick import quick_attribute, quick_location, quick_type
from sdyopt.syntax.pieces.reader import Reader, Surroundings
from sdyopt.syntax.pieces.tables import load_tables

__all__ = ["Pieces"]

_READERS = (_affine, _arrays, _attributes, _dialects, _elements, _locations, _sparse, _types)


class Pieces:
    """The pieces of one source, remembered by their text.

    `offset` is where the text stands in the source.
    """

    def __init__(self, source: Source, surroundings: Surroundings, is_quick: bool = True) -> None:
        self._source = source
        self._reader = Reader(source, surroundings, self)
        self._is_quick = is_quick
        self._types: dict[str, Type] = {}
        self._attributes: dict[str, Attribute] = {}
        self._typed_attributes: dict[tuple[str, Type], Attribute] = {}
        self._dictionaries: dict[str, DictAttr] = {}
        self._locations: dict[str, Location] = {}

    def type(self, text: str, offset: int) -> Type:
        """The type that a text is."""
        found = self._types.get(text)
        if found is None:
            found = quick_type(text) if self._is_quick else None
            if found is None:
                found = cast(Type, self._read("type", text, offset))
            self._types[text] = found
        return found

    def attribute(self, text: str, offset: int, expected_type: Type | None = None) -> Attribute:
        """The attribute that a text is; if the text around it says of which type, it says so no more."""
        if expected_type is not None:
            return self._attribute_of_type(text, offset, expected_type)
        found = self._attributes.get(text)
        if found is None:
            found = quick_attribute(text) if self._is_quick else None
            if found is None and text.startswith("loc("):
                location = self._quick_location(text)
                found = None if location is None else LocationAttr(location)
            if found is None:
                found = cast(Attribute, self._read("attribute", text, offset))
            self._attributes[text] = found
        return found

    def dictionary(self, text: str, offset: int) -> DictAttr:
        """The dictionary that a text is."""
        found = self._dictionaries.get(text)
        if found is None:
            found = self._dictionaries[text] = cast(DictAttr, self._read("dictionary", text, offset))
        return found

    def dictionary_at(self, offset: int) -> tuple[DictAttr, int] | None:
        """The dictionary that opens at an offset, and its end; None if that takes the grammar."""
        return dictionary_at(self.attribute, self._source.text, offset) if self._is_quick else None

    def location(self, text: str, offset: int) -> Location:
        """The location that a text is, `loc(…)` included."""
        found = self._locations.get(text)
        if found is None:
            found = self._quick_location(text)
            if found is None:
                found = cast(Location, self._read("located", text, offset))
            self._locations[text] = found
        return found

    def _quick_location(self, text: str) -> Location | None:
        if not self._is_quick:
            return None
        return quick_location(text, self._reader.surroundings.find_attribute_alias)

    def _attribute_of_type(self, text: str, offset: int, type: Type) -> Attribute:
        found = self._typed_attributes.get((text, type))
        if found is None:
            outer, self._reader.expected_type = self._reader.expected_type, type
            try:
                found = cast(Attribute, self._read("attribute_of_type", text, offset))
            finally:
                self._reader.expected_type = outer
            self._typed_attributes[text, type] = found
        return found

    def _read(self, start: str, text: str, offset: int) -> Any:
        return run(load_tables(), start, self._source.text, offset, offset + len(text), self._reader)
