"""Reading the attributes and types of dialects, and aliases.

Only the outside is read here: `#namespace.mnemonic<…>`, or `#namespace<mnemonic…>`. A registered
dialect reads the rest itself; that of an unknown one is kept as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sdyopt.ir.attribute import Attribute, OpaqueAttr, Type
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.types import NONE, OpaqueType
from sdyopt.syntax.cursor import WORD, Cursor
from sdyopt.syntax.pieces.reader import Reader, action

T = TypeVar("T")

_UNREGISTERED = (
    " created with unregistered dialect. If this is intended, please call "
    "allowUnregisteredDialects() on the MLIRContext, or use -allow-unregistered-dialect with the MLIR "
    "opt tool used"
)


@dataclass(frozen=True, slots=True)
class DialectSymbol:
    """`#namespace.body` or `#namespace<body>`, and where its body stands; an alias has no body."""

    namespace: str
    body: str | None
    place: int
    body_place: int

    def attribute_of(self, reader: Reader, type: Type | None) -> Attribute:
        """The attribute that this is, which may have a type."""
        dialect = reader.surroundings.dialects.find(self.namespace)
        if self.body is None:
            return reader.surroundings.attribute_alias(self.namespace, self.place)
        if dialect is not None:
            return self._read(reader, dialect, dialect.attribute_parsers, "attribute")
        if not reader.surroundings.allow_unregistered:
            text = f'#"{self.namespace}"<"{self.body}"> : \'{reader.speller.type(type or NONE)}\' attribute'
            raise reader.error(text + _UNREGISTERED, self.body_place)
        return OpaqueAttr(self.namespace, self.body, type)

    def as_type(self, reader: Reader) -> Type:
        """The type that this is."""
        dialect = reader.surroundings.dialects.find(self.namespace)
        if self.body is None:
            return reader.surroundings.type_alias(self.namespace, self.place)
        if dialect is not None:
            return self._read(reader, dialect, dialect.type_parsers, "type")
        if not reader.surroundings.allow_unregistered:
            text = f'`!"{self.namespace}"<"{self.body}">` type'
            raise reader.error(text + _UNREGISTERED, self.body_place)
        return OpaqueType(self.namespace, self.body)

    def _read(self, reader: Reader, dialect: Dialect, parsers: dict[str, Callable[..., T]], kind: str) -> T:
        if not parsers:
            message = f"dialect '{dialect.name}' provides no {kind} parsing hook"
            raise reader.error(message, self.body_place)
        cursor = Cursor(reader.source, reader.pieces, self.body_place)
        start = cursor.skip()
        mnemonic = WORD.match(cursor.text, start)
        if mnemonic is None:
            raise cursor.misplaced("expected valid keyword")
        parse = parsers.get(mnemonic[1])
        if parse is None:
            words = dialect.unknown_attribute if kind == "attribute" else dialect.unknown_type
            raise reader.error(words.format(mnemonic=mnemonic[1], dialect=dialect.name), start)
        cursor.position = mnemonic.end()
        return parse(cursor)


@action("bare_dialect_attribute")
@action("dialect_attribute")
def dialect_symbol(_reader: Reader, parts: list[Any], places: list[int]) -> DialectSymbol:
    """What `#name` or `!name` and the `<…>` that touches it mean: the first dot ends the namespace."""
    namespace, dot, rest = parts[0][1:].partition(".")
    if not dot and len(parts) == 1:
        return DialectSymbol(namespace, None, places[0] + len(parts[0]), 0)
    if not dot:
        return DialectSymbol(namespace, parts[1], places[0], places[1] + 1)
    body = f"{rest}<{parts[1]}>" if len(parts) == 2 else rest
    return DialectSymbol(namespace, body, places[0], places[0] + len(namespace) + 2)


@action("bare_dialect_type")
@action("dialect_type")
def _dialect_type(reader: Reader, parts: list[Any], places: list[int]) -> Type:
    return dialect_symbol(reader, parts, places).as_type(reader)
