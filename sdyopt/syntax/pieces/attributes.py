"""Reading attributes other than lists of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sdyopt.ir.attribute import (
    UNIT,
    ArrayAttr,
    Attribute,
    DictAttr,
    DistinctAttr,
    LocationAttr,
    StringAttr,
    SymbolRef,
    TypeAttr,
    UnitAttr,
    dictionary,
)
from sdyopt.ir.elements_attributes import DenseResource, StridedLayout
from sdyopt.ir.numeric_attributes import FALSE, TRUE, FloatAttr, IntegerAttr
from sdyopt.ir.types import DYNAMIC, F64, I64, FloatType, IndexType, IntegerType, ShapedType, Type
from sdyopt.syntax.pieces.numbers import float_bits, integer_value
from sdyopt.syntax.pieces.reader import Reader, action
from sdyopt.syntax.strings import unescape

_LARGEST_INT64 = (1 << 63) - 1


class Literal(Protocol):
    """What may be followed by its type, and becomes an attribute once that is known to come or not."""

    def attribute_of(self, reader: Reader, type: Type | None) -> Attribute: ...


@action("untyped")
def _untyped(reader: Reader, parts: list[Any], _places: list[int]) -> Attribute:
    literal: Literal = parts[0]
    return literal.attribute_of(reader, None)


@action("typed")
def _typed(reader: Reader, parts: list[Any], places: list[int]) -> Attribute:
    literal: Literal = parts[0]
    reader.colon = places[1]
    return literal.attribute_of(reader, parts[2])


@action("of_type")
def _of_type(reader: Reader, parts: list[Any], _places: list[int]) -> Attribute:
    literal: Literal = parts[0]
    return literal.attribute_of(reader, reader.expected_type)


# --- Numbers and strings -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """The digits of a number, where they stand, and whether a minus stands before them."""

    digits: str
    place: int
    is_negative: bool

    def attribute_of(self, reader: Reader, type: Type | None) -> IntegerAttr | FloatAttr:
        if type is None:
            type = F64 if "." in self.digits else I64
        if isinstance(type, FloatType):
            return FloatAttr(float_bits(reader, self.digits, self.is_negative, type, self.place), type)
        if "." in self.digits:
            raise reader.error_ahead("floating point value not valid for specified type")
        if not isinstance(type, IntegerType | IndexType):
            raise reader.error("integer literal not valid for specified type", self.place)
        if self.is_negative and isinstance(type, IntegerType) and type.is_unsigned:
            message = "negative integer literal not valid for unsigned integer type"
            raise reader.error(message, self.place)
        value = integer_value(self.digits, self.is_negative, type)
        if value is None:
            raise reader.error("integer constant out of range for attribute", self.place)
        return IntegerAttr(value, type)


@action("integer")
@action("float")
def _number(_reader: Reader, parts: list[Any], places: list[int]) -> NumberLiteral:
    return NumberLiteral(parts[0], places[0], False)


@action("negative_integer")
@action("negative_float")
def _negative_number(_reader: Reader, parts: list[Any], places: list[int]) -> NumberLiteral:
    return NumberLiteral(parts[1], places[1], True)


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """What a string literal stands for."""

    value: str

    def attribute_of(self, _reader: Reader, type: Type | None) -> StringAttr:
        return StringAttr(self.value, type)


@action("string")
def _string(_reader: Reader, parts: list[Any], _places: list[int]) -> StringLiteral:
    return StringLiteral(unescape(parts[0][1:-1]))


@action("true")
def _true(_reader: Reader, _parts: list[Any], _places: list[int]) -> IntegerAttr:
    return TRUE


@action("false")
def _false(_reader: Reader, _parts: list[Any], _places: list[int]) -> IntegerAttr:
    return FALSE


@action("unit")
def _unit(_reader: Reader, _parts: list[Any], _places: list[int]) -> UnitAttr:
    return UNIT


# --- Symbols, arrays, dictionaries ---------------------------------------------------------------


@action("symbol")
def _symbol(_reader: Reader, parts: list[Any], _places: list[int]) -> SymbolRef:
    root, *nested = map(_symbol_name, parts[0])
    return SymbolRef(root, tuple(nested))


def _symbol_name(text: str) -> str:
    return unescape(text[2:-1]) if text.startswith('@"') else text[1:]


@action("type_attribute")
def _type_attribute(_reader: Reader, parts: list[Any], _places: list[int]) -> TypeAttr:
    return TypeAttr(parts[0])


@action("array")
def _array(_reader: Reader, parts: list[Any], _places: list[int]) -> ArrayAttr:
    return ArrayAttr(tuple(parts[1]) if len(parts) == 3 else ())


@action("key")
def _key(_reader: Reader, parts: list[Any], places: list[int]) -> tuple[str, int]:
    return parts[0], places[0]


@action("quoted_key")
def _quoted_key(reader: Reader, parts: list[Any], places: list[int]) -> tuple[str, int]:
    name = unescape(parts[0][1:-1])
    if not name:
        raise reader.error("expected valid attribute name", places[0])
    return name, places[0]


@action("unit_entry")
def _unit_entry(_reader: Reader, parts: list[Any], _places: list[int]) -> tuple[str, int, Attribute]:
    name, place = parts[0]
    return name, place, UNIT


@action("entry")
def _entry(_reader: Reader, parts: list[Any], _places: list[int]) -> tuple[str, int, Attribute]:
    name, place = parts[0]
    return name, place, parts[2]


@action("dictionary")
def _dictionary(reader: Reader, parts: list[Any], _places: list[int]) -> DictAttr:
    entries: dict[str, Attribute] = {}
    for name, place, value in parts[1] if len(parts) == 3 else ():
        if name in entries:
            raise reader.error(f"duplicate key '{name}' in dictionary attribute", place)
        entries[name] = value
    return dictionary(entries)


# --- The rest ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResourceLiteral:
    """The key of a dense resource."""

    key: str

    def attribute_of(self, reader: Reader, type: Type | None) -> DenseResource:
        if type is None:
            raise reader.misplaced("expected ':'", reader.following)
        if not isinstance(type, ShapedType):
            raise reader.error("`dense_resource` expected a shaped type", reader.colon)
        return DenseResource(type, self.key)


@action("dense_resource")
def _dense_resource(_reader: Reader, parts: list[Any], _places: list[int]) -> ResourceLiteral:
    return ResourceLiteral(parts[2])


@action("quoted_word")
def _quoted_word(_reader: Reader, parts: list[Any], _places: list[int]) -> str:
    return unescape(parts[0][1:-1])


@action("distinct")
def _distinct(reader: Reader, parts: list[Any], places: list[int]) -> DistinctAttr:
    digits = parts[2]
    id = int(digits, 0) if len(digits) < 30 and digits[1:2] == "x" else int(digits[:30])
    if id >> 64:
        raise reader.error("expected an unsigned 64-bit integer", places[3])
    attribute = parts[5] if len(parts) == 7 else UNIT
    known = reader.distinct.setdefault(id, DistinctAttr(id, attribute))
    if known.attribute is not attribute:
        text = reader.speller.attribute(known.attribute)
        raise reader.error(f"referenced attribute does not match previous definition: {text}", places[0])
    return known


@action("location_attribute")
def _location_attribute(_reader: Reader, parts: list[Any], _places: list[int]) -> LocationAttr:
    return LocationAttr(parts[2])


@action("strided")
def _strided(_reader: Reader, parts: list[Any], _places: list[int]) -> StridedLayout:
    return StridedLayout(tuple(parts[3]) if len(parts) == 6 else (), parts[-1])


@action("no_offset")
def _no_offset(_reader: Reader, _parts: list[Any], _places: list[int]) -> int:
    return 0


@action("offset")
def _offset(_reader: Reader, parts: list[Any], _places: list[int]) -> int:
    offset: int = parts[3]
    return offset


@action("dynamic_stride")
def _dynamic_stride(_reader: Reader, _parts: list[Any], _places: list[int]) -> int:
    return DYNAMIC


@action("stride")
def _stride(reader: Reader, parts: list[Any], places: list[int]) -> int:
    return _int64(reader, parts[0], places[0])


@action("negative_stride")
def _negative_stride(reader: Reader, parts: list[Any], places: list[int]) -> int:
    return -_int64(reader, parts[1], places[0])


def _int64(reader: Reader, digits: str, place: int) -> int:
    value = int(digits[:40], 16 if digits[1:2] == "x" else 10)
    if value > _LARGEST_INT64:
        raise reader.error("expected a 64-bit signed integer or '?'", place)
    return value
