"""Parses types, attributes and locations, each distinct text once.

Regular expressions recognize the most common ones (`fast_path`). An LALR parser, whose tables Lark builds
from grammar.lark, parses all others. Both give the same result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sdyopt.base.diagnostics.location import Location, Source

# Importing these registers their semantic actions.
from sdyopt.mlir.asm.parser.attributes import builtin_attributes as _attributes
from sdyopt.mlir.asm.parser.attributes import dense_elements as _elements
from sdyopt.mlir.asm.parser.attributes import dialect_symbols as _symbols
from sdyopt.mlir.asm.parser.attributes import element_literals as _literals
from sdyopt.mlir.asm.parser.attributes import semantic_actions as _types
from sdyopt.mlir.asm.parser.attributes.dialect_symbols import parse_dialect_attribute
from sdyopt.mlir.asm.parser.attributes.fast_path import (
    array_at,
    dictionary_at,
    fast_attribute,
    fast_attribute_of_type,
    fast_function_type,
    fast_location,
    fast_type,
)
from sdyopt.mlir.asm.parser.attributes.lr_parser import load_tables, run
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Environment
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, LocationAttr, TypeAttr
from sdyopt.mlir.ir.types import Type

__all__ = ["AttributeParser"]

# Longer texts, such as those of big constants, are not cached: few are equal, and hashing them takes time.
_MAX_CACHED_LENGTH = 100_000

# The maximum number of brackets in an array or a dictionary that does not need the grammar.
_MAX_BRACKETS = 100

_ACTIONS = (_attributes, _elements, _literals, _symbols, _types)


class AttributeParser:
    """Parses the types, attributes and locations of one source, cached by their text.

    In all methods, `offset` is the position of the text in the source. The methods raise DiagnosticError.
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
        """Parses a type."""
        type = self._types.get(text) or self.plain_type(text)
        if type is None:
            type = self._types[text] = cast(Type, self._parse("type", text, offset))
        return type

    def plain_type(self, text: str) -> Type | None:
        """The type of a text that does not need the grammar; None for any other."""
        type = self._types.get(text)
        if type is None and self._uses_fast_path:
            type = fast_function_type(text, self.plain_type) if text.startswith("(") else fast_type(text)
            if type is not None:
                self._types[text] = type
        return type

    def plain_types(self, texts: Sequence[str]) -> list[Type | None]:
        """`plain_type` of each text. Most of them are cached."""
        types: list[Type | None] = list(map(self._types.get, texts))
        return list(map(self.plain_type, texts)) if None in types else types

    def with_types(self, source: Source, types: Mapping[str, Type]) -> AttributeParser:
        """A parser of another source with the same aliases, and with these types by their text."""
        parser = AttributeParser(source, self._context.environment, self._uses_fast_path)
        parser._context.distinct = self._context.distinct
        parser._types.update(types)
        return parser

    def attribute(self, text: str, offset: int, expected_type: Type | None = None) -> Attribute:
        """Parses an attribute; with an `expected_type`, the text has no type of its own."""
        if expected_type is not None:
            return self._attribute_of_type(text, offset, expected_type)
        is_cached = len(text) <= _MAX_CACHED_LENGTH
        attribute = self._attributes.get(text) if is_cached else None
        if attribute is None:
            attribute = self._fast_attribute(text, offset) if self._uses_fast_path else None
            if attribute is None:
                attribute = cast(Attribute, self._parse("attribute", text, offset))
            if is_cached:
                self._attributes[text] = attribute
        return attribute

    def dictionary(self, text: str, offset: int) -> DictAttr:
        """Parses a dictionary."""
        attributes = self._dictionaries.get(text)
        if attributes is None:
            attributes = self._dictionaries[text] = cast(DictAttr, self._parse("dictionary", text, offset))
        return attributes

    def dictionary_at(self, offset: int) -> tuple[DictAttr, int] | None:
        """The dictionary that opens at an offset, and its end; None if it needs the grammar."""
        return dictionary_at(self.attribute, self._source.text, offset) if self._uses_fast_path else None

    def location(self, text: str, offset: int) -> Location:
        """Parses `loc(…)`."""
        location = self._locations.get(text)
        if location is None:
            location = self.plain_location(text)
            if location is None:
                location = cast(Location, self._parse("located", text, offset))
            self._locations[text] = location
        return location

    def _fast_attribute(self, text: str, offset: int) -> Attribute | None:
        first = text[:1]
        if first == "#":
            return parse_dialect_attribute(self._context, text, offset)
        if first == "(":
            type = self.plain_type(text)
            return None if type is None else TypeAttr(type)
        if first == "[" or first == "{":
            # The grammar reports nesting that is too deep.
            if sum(map(text.count, "[{(<")) > _MAX_BRACKETS:
                return None
            parsed = (array_at if first == "[" else dictionary_at)(self.attribute, self._source.text, offset)
            return parsed[0] if parsed is not None and parsed[1] == offset + len(text) else None
        if text.startswith("loc("):
            location = self.plain_location(text)
            return None if location is None else LocationAttr(location)
        return fast_attribute(text, self.plain_type)

    def plain_location(self, text: str) -> Location | None:
        """The location of a text that does not need the grammar; None for any other."""
        if not self._uses_fast_path:
            return None
        return fast_location(text, self._context.environment.find_attribute_alias)

    def _attribute_of_type(self, text: str, offset: int, type: Type) -> Attribute:
        attribute = self._typed_attributes.get((text, type))
        if attribute is None and self._uses_fast_path:
            attribute = fast_attribute_of_type(text, type)
        if attribute is None:
            outer, self._context.expected_type = self._context.expected_type, type
            try:
                attribute = cast(Attribute, self._parse("attribute_of_type", text, offset))
            finally:
                self._context.expected_type = outer
        self._typed_attributes[text, type] = attribute
        return attribute

    def _parse(self, start: str, text: str, offset: int) -> Any:
        return run(load_tables(), start, self._source.text, offset, offset + len(text), self._context)
