"""Reading `array<type: …>`."""

from __future__ import annotations

import re
from typing import Any

from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.numeric_attributes import wrapped
from sdyopt.ir.types import I1, FloatType, IntegerType
from sdyopt.syntax.pieces.element_list import Scanner
from sdyopt.syntax.pieces.numbers import float_bits, integer_value
from sdyopt.syntax.pieces.reader import Reader, action

_DECIMALS = re.compile(r" *-?\d{1,18} *(?:, *-?\d{1,18} *)*+", re.ASCII)


@action("array_type")
def _array_type(reader: Reader, parts: list[Any], places: list[int]) -> IntegerType | FloatType:
    element = parts[0]
    if not isinstance(element, IntegerType | FloatType):
        raise reader.error_with_type("expected integer or float type, got: ", element, places[0])
    if element is not I1 and element.width % 8:
        raise reader.error("element type bitwidth must be a multiple of 8", places[0])
    reader.array_type = element
    return element


@action("array_values")
def _array_elements(reader: Reader, parts: list[Any], places: list[int]) -> tuple[int, ...]:
    text, type = parts[0], reader.array_type
    if isinstance(type, IntegerType) and type.is_signless and type is not I1 and _DECIMALS.fullmatch(text):
        values = tuple(map(int, text.split(",")))
        if all(wrapped(value, type) == value for value in values):
            return values
    assert isinstance(type, IntegerType | FloatType)
    return tuple(_array_values(reader, text, places[0], type))


@action("dense_array")
def _dense_array(_reader: Reader, parts: list[Any], _places: list[int]) -> DenseArray:
    return DenseArray(parts[2], parts[4] if len(parts) == 6 else ())


def _array_values(reader: Reader, text: str, place: int, type: IntegerType | FloatType) -> list[int]:
    scanner = Scanner(reader, text, place)
    values = []
    while True:
        is_negative = scanner.accept("-")
        token, start = scanner.token, scanner.start
        if isinstance(type, FloatType):
            if not token[:1].isdigit():
                raise scanner.error("expected floating point literal")
            values.append(float_bits(reader, token, is_negative, type, start))
            scanner.accept(token)
        else:
            values.append(_array_integer(scanner, is_negative, type))
        if not scanner.accept(","):
            break
    scanner.expect_end("expected '>' to close an array attribute")
    return values


def _array_integer(scanner: Scanner, is_negative: bool, type: IntegerType) -> int:
    token = scanner.token
    if token in ("true", "false"):
        if type is not I1:
            raise scanner.error("expected i1 type for 'true' or 'false' values")
        scanner.accept(token)
        return int(token == "true")
    if not token[:1].isdigit() or not token.isalnum():
        raise scanner.error("expected integer literal")
    scanner.accept(token)
    if type is I1:
        raise scanner.error("expected 'true' or 'false' values for i1 type")
    if is_negative and type.is_unsigned:
        signed = integer_value(token, True, IntegerType(type.width))
        value = None if signed is None else wrapped(signed, type)
    else:
        value = integer_value(token, is_negative, type)
    if value is None:
        raise scanner.error("integer constant out of range")
    return value
