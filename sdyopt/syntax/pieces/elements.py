"""Reading `dense<…>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.ir.attribute import ArrayAttr, Attribute
from sdyopt.ir.elements_attributes import (
    DenseElements,
    DenseShape,
    DenseStringElements,
    dense,
    element_size,
)
from sdyopt.ir.numeric_attributes import FloatAttr, IntegerAttr, wrapped
from sdyopt.ir.types import (
    I1,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    RankedShape,
    ShapedType,
    Type,
)
from sdyopt.syntax.pieces.element_list import ElementList, NumberList, bulk_numbers, read_elements
from sdyopt.syntax.pieces.numbers import float_bits, integer_value, pack_floats, pack_integers
from sdyopt.syntax.pieces.reader import Reader, action
from sdyopt.syntax.strings import unescape

_FLOATS = re.compile(r"(?:-?\d+\.\d*(?:[eE][-+]?\d+)?,)*", re.ASCII)
_DECIMALS = re.compile(r"(?:-?\d{1,18},)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class DenseLiteral:
    """`dense<elements>`; the elements in bulk, if they are a plain list of numbers."""

    text: str
    bulk: NumberList | None
    place: int
    text_place: int

    def attribute_of(self, reader: Reader, type: Type | None) -> Attribute:
        if type is None:
            raise reader.misplaced("expected ':'", reader.following)
        shaped = static_shape(reader, type, self.place)
        found = bulk_elements(self.text, self.bulk, shaped)
        if found is not None:
            return found
        elements = ElementList((), [], [], [])
        if self.text.strip():
            elements = read_elements(reader, self.text, self.text_place)
        return elements_of(reader, elements, shaped, self.place)


@action("elements")
def _elements(reader: Reader, parts: list[Any], places: list[int]) -> tuple[str, NumberList | None]:
    """Sees to it that the text is a list of elements, whatever their type."""
    text = parts[0]
    if not text.strip() and not reader.source.text.startswith(">", reader.following):
        raise reader.error_ahead("expected element literal of primitive type")
    bulk = bulk_numbers(text)
    if bulk is None and text.strip():
        read_elements(reader, text, places[0])
    return text, bulk


@action("dense")
def _dense(_reader: Reader, parts: list[Any], places: list[int]) -> DenseLiteral:
    text, bulk = parts[2]
    return DenseLiteral(text, bulk, places[0], places[2])


def elements_of(reader: Reader, found: ElementList, type: DenseShape, place: int) -> Attribute:
    """The elements that were read token by token, as elements of a type."""
    element = type.element
    is_number = isinstance(element, IntegerType | IndexType | FloatType | ComplexType)
    if found.shape is None and found.texts[0].startswith('"') and is_number:
        return _of_hexadecimal(reader, found.texts[0], found.places[0], type, place)
    if found.shape and found.shape != type.shape:
        raise _shape_mismatch(reader, found.shape, type, place)
    if not found.texts and type.num_elements:
        shown = reader.speller.type(type)
        raise reader.error(f"parsed zero elements, but type ('{shown}') expected at least 1", place)
    if isinstance(element, ComplexType):
        _check_complex_count(reader, found, type, place)
        element = element.element
    if isinstance(element, IntegerType | IndexType):
        return dense(type, pack_integers(_integers(reader, found, element), element))
    if isinstance(element, FloatType):
        return dense(type, _float_bytes(reader, found, element))
    return _strings(reader, found, type, place)


def bulk_elements(text: str, bulk: NumberList | None, type: DenseShape) -> DenseElements | None:
    """The elements of a text that is laid out just as the type says; None for all others."""
    element = type.element
    is_complex = isinstance(element, ComplexType)
    if isinstance(element, ComplexType):
        element = element.element
    if not isinstance(element, IntegerType | IndexType | FloatType):
        return None
    if text.startswith('"'):
        return _bulk_hexadecimal(text, type)
    if bulk is None or bulk.is_complex is not is_complex or bulk.shape not in (None, type.shape):
        return None
    numbers = bulk.numbers
    joined = ",".join(numbers) + ","
    if isinstance(element, FloatType):
        return dense(type, pack_floats(numbers, element)) if _FLOATS.fullmatch(joined) else None
    if element is I1 and not joined.replace("true,", "").replace("false,", ""):
        return dense(type, bytes([number == "true" for number in numbers]))
    if not _DECIMALS.fullmatch(joined):
        return None
    values = list(map(int, numbers))
    if wrapped(low := min(values), element) != low or wrapped(high := max(values), element) != high:
        return None
    return dense(type, pack_integers(values, element))


def _bulk_hexadecimal(text: str, type: DenseShape) -> DenseElements | None:
    data = _decoded(text.rstrip())
    return dense(type, data) if data is not None and _fits(data, type) else None


def _decoded(literal: str) -> bytes | None:
    """The bytes that a string literal `"0x…"` gives in hexadecimal; None if it does not."""
    digits = literal[3:-1]
    if not literal.startswith('"0x') or (digits and not digits.isalnum()):
        return None
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return None


def _of_hexadecimal(
    reader: Reader, literal: str, literal_place: int, type: DenseShape, place: int
) -> Attribute:
    data = _decoded(literal)
    if data is None:
        message = "expected string containing hex digits starting with `0x`"
        raise reader.error(message, literal_place)
    if not _fits(data, type):
        message = "elements hex data size is invalid for provided type: "
        raise reader.error_with_type(message, type, place)
    return dense(type, data)


def _fits(data: bytes, type: DenseShape) -> bool:
    """Whether these bytes are those of all elements, or of one for all."""
    size = element_size(type.element)
    return len(data) == size * type.num_elements or len(data) == size


def _shape_mismatch(reader: Reader, shape: tuple[int, ...], type: DenseShape, place: int) -> DiagnosticError:
    found, wanted = (", ".join(map(str, sizes)) for sizes in (shape, type.shape))
    message = f"inferred shape of elements literal ([{found}]) does not match type ([{wanted}])"
    return reader.error(message, place)


def _check_complex_count(reader: Reader, found: ElementList, type: DenseShape, place: int) -> None:
    count = len(found.texts)
    if not found.shape and type.num_elements and count != 2:
        shown, wanted = reader.speller.type(type.element), 2
    elif found.shape and count != 2 * type.num_elements:
        shown, wanted = reader.speller.type(type), 2 * type.num_elements
    else:
        return
    message = f"parsed {count} elements, but type ('{shown}') expected {wanted} elements"
    raise reader.error(message, place)


def _integers(reader: Reader, found: ElementList, type: IntegerType | IndexType) -> list[int]:
    values = []
    for text, place, is_negative in zip(found.texts, found.places, found.negative, strict=True):
        if is_negative and isinstance(type, IntegerType) and type.is_unsigned:
            message = "expected unsigned integer elements, but parsed negative value"
            raise reader.error(message, place)
        if text in ("true", "false"):
            if type is not I1:
                raise reader.error("expected i1 type for 'true' or 'false' values", place)
            values.append(int(text == "true"))
            continue
        if not text.isalnum():
            raise reader.error("expected integer elements, but parsed floating-point", place)
        value = integer_value(text, is_negative, type)
        if value is None:
            raise reader.error("integer constant out of range for type", place)
        values.append(value)
    return values


def _float_bytes(reader: Reader, found: ElementList, type: FloatType) -> bytes:
    size = element_size(type)
    mask = (1 << 8 * size) - 1
    packed = []
    for text, place, is_negative in zip(found.texts, found.places, found.negative, strict=True):
        if not text[0].isdigit():
            raise reader.error("expected floating point literal", place)
        bits = float_bits(reader, text, is_negative, type, place)
        packed.append((bits & mask).to_bytes(size, "little"))
    return b"".join(packed)


def _strings(reader: Reader, found: ElementList, type: DenseShape, place: int) -> DenseStringElements:
    for text in found.texts:
        if not text.startswith('"'):
            raise reader.error(f"expected string token, got {text}", place)
    values = tuple(unescape(text[1:-1]) for text in found.texts)
    return DenseStringElements(type, values[:1] if len(set(values)) == 1 else values)


def static_shape(reader: Reader, type: Type, place: int) -> DenseShape:
    """The type of a list of elements; an error if it can have none."""
    if not isinstance(type, ShapedType):
        raise reader.error("elements literal must be a shaped type", place)
    if not isinstance(type, RankedShape) or not type.has_static_shape:
        raise reader.error("elements literal type must have static shape", place)
    return type


# --- dense<type : attributes> --------------------------------------------------------------------


@action("dense_type")
def _dense_type(reader: Reader, parts: list[Any], places: list[int]) -> RankedShape:
    type = parts[0]
    if not isinstance(type, ShapedType):
        raise reader.error("expected a shaped type for dense elements", places[0])
    if not isinstance(type, RankedShape) or not type.has_static_shape:
        raise reader.error("dense elements type must have static shape", places[0])
    if not isinstance(type.element, IntegerType | IndexType | FloatType | ComplexType):
        message = "element type must implement DenseElementTypeInterface for type-first dense syntax"
        raise reader.error(message, places[0])
    return type


@action("dense_by_type")
def _dense_by_type(reader: Reader, parts: list[Any], places: list[int]) -> Attribute:
    type, attribute = parts[2], parts[4]
    element = type.element
    is_list = isinstance(attribute, ArrayAttr) and not (isinstance(element, ComplexType) and not type.shape)
    if is_list and not type.shape:
        raise reader.error("expected single element for scalar type, got list", places[0])
    leaves = _leaves(reader, attribute, type.shape if is_list else ())
    parts_of_leaves = [part for leaf in leaves for part in _numbers_of(reader, leaf, element)]
    return dense(type, b"".join(parts_of_leaves))


def _leaves(reader: Reader, attribute: Attribute, shape: tuple[int, ...]) -> list[Attribute]:
    level = [attribute]
    for size in shape:
        for array in level:
            found = len(array) if isinstance(array, ArrayAttr) else 0
            if found != size:
                raise reader.error_ahead(f"expected {size} elements in dimension, got {found}")
        level = [inner for array in level if isinstance(array, ArrayAttr) for inner in array]
    return level


def _numbers_of(reader: Reader, leaf: Attribute, element: Type) -> list[bytes]:
    if isinstance(element, ComplexType) and isinstance(leaf, ArrayAttr) and len(leaf) == 2:
        return [data for part in leaf for data in _numbers_of(reader, part, element.element)]
    if isinstance(leaf, IntegerAttr) and leaf.type is element:
        return [pack_integers([leaf.value], leaf.type)]
    if isinstance(leaf, FloatAttr) and leaf.type is element:
        return [leaf.bits.to_bytes(element_size(element), "little")]
    raise reader.error_ahead("incompatible attribute for element type")
