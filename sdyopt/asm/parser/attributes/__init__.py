"""Types, attributes and locations: text → fact, each text read once.

The commonest spellings are recognised at once (quick.py). All others are parsed by tables that Lark
makes of grammar.lark. Both ways give the same facts.
"""

from __future__ import annotations

from typing import Any, cast

# Importing these registers what they read.
from sdyopt.asm.parser.attributes import affine as _affine
from sdyopt.asm.parser.attributes import builtin_attributes as _attributes
from sdyopt.asm.parser.attributes import builtin_types as _types
from sdyopt.asm.parser.attributes import dense_array as _arrays
from sdyopt.asm.parser.attributes import dense_elements as _elements
from sdyopt.asm.parser.attributes import locations as _locations
from sdyopt.asm.parser.attributes import sparse_elements as _sparse
from sdyopt.asm.parser.attributes.dialect_symbols import parse_dialect_attribute
from sdyopt.asm.parser.attributes.dictionary import dictionary_at
from sdyopt.asm.parser.attributes.fast_path import fast_attribute, fast_location, fast_type
from sdyopt.asm.parser.attributes.lr_parser import run
from sdyopt.asm.parser.attributes.lr_tables import load_tables
from sdyopt.asm.parser.attributes.semantic_actions import ActionContext, Environment
from sdyopt.diagnostics.location import Location
from sdyopt.diagnostics.source import Source
from sdyopt.ir.attribute import Attribute, DictAttr, LocationAttr
from sdyopt.ir.types import Type

__all__ = ["Pieces"]

_READERS = (_affine, _arrays, _attributes, _elements, _locations, _sparse, _types)


class AttributeParser:
    """The pieces of one source, remembered by their text.

    `offset` is where the text stands in the source.
    """

    def __init__(self, source: Source, environment: Environment, uses_fast_path: bool = True) -> None:
        self._source = source
        self._context = ActionContext(source, environment, self)
        self._uses_fast_path = uses_fast_path
        self._types: dict[str, Type] = {}
        self._attributes: dict[str, Attribute] = {}
        self._typed_attributes: dict[tuple[str, Type], Attribute] = {}
        self._dictionaries: dict[str, DictAttr] = {}
        self._locations: dict[str, Location] = {}

    def type(self, text: str, offset: int) -> Type:
        """The type that a text is."""
        found = self._types.get(text)
        if found is None:
            found = fast_type(text) if self._uses_fast_path else None
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
            found = self._fast_attribute(text, offset) if self._uses_fast_path else None
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
        return dictionary_at(self.attribute, self._source.text, offset) if self._uses_fast_path else None

    def location(self, text: str, offset: int) -> Location:
        """The location that a text is, `loc(…)` included."""
        found = self._locations.get(text)
        if found is None:
            found = self._fast_location(text)
            if found is None:
                found = cast(Location, self._read("located", text, offset))
            self._locations[text] = found
        return found

    def _fast_attribute(self, text: str, offset: int) -> Attribute | None:
        if text.startswith("#"):
            return parse_dialect_attribute(self._context, text, offset)
        if text.startswith("loc("):
            location = self._fast_location(text)
            return None if location is None else LocationAttr(location)
        return fast_attribute(text)

    def _fast_location(self, text: str) -> Location | None:
        if not self._uses_fast_path:
            return None
        return fast_location(text, self._context.environment.find_attribute_alias)

    def _attribute_of_type(self, text: str, offset: int, type: Type) -> Attribute:
        found = self._typed_attributes.get((text, type))
        if found is None:
            outer, self._context.expected_type = self._context.expected_type, type
            try:
                found = cast(Attribute, self._read("attribute_of_type", text, offset))
            finally:
                self._context.expected_type = outer
            self._typed_attributes[text, type] = found
        return found

    def _read(self, start: str, text: str, offset: int) -> Any:
        return run(load_tables(), start, self._source.text, offset, offset + len(text), self._context)
