"""Semantic actions of dense arrays, `array<type: …>`."""

from __future__ import annotations

import re

from sdyopt.mlir.asm.parser.attributes.element_literals import ElementParser
from sdyopt.mlir.asm.parser.attributes.numbers import float_bits, integer_value
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Parts, action
from sdyopt.mlir.ir.builtin_attributes import DenseArray, wrapped
from sdyopt.mlir.ir.types import I1, FloatType, IntegerType

# Without `-0`, which is out of range for MLIR.
_DECIMAL = r" *(?!-0)-?\d{1,18} *"
_DECIMALS = re.compile(f"{_DECIMAL}(?:,{_DECIMAL})*+", re.ASCII)


@action("array_type")
def _array_type(context: ActionContext, parts: Parts, offsets: list[int]) -> IntegerType | FloatType:
    element = parts[0]
    if not isinstance(element, IntegerType | FloatType):
        raise context.error_with_type("expected integer or float type, got: ", element, offsets[0])
    if element is not I1 and element.width % 8:
        raise context.error("element type bitwidth must be a multiple of 8", offsets[0])
    context.array_type = element
    return element


@action("array_values")
def _array_values(context: ActionContext, parts: Parts, offsets: list[int]) -> tuple[int, ...]:
    text, type = parts[0], context.array_type
    if isinstance(type, IntegerType) and type.is_signless and type is not I1 and _DECIMALS.fullmatch(text):
        values = tuple(map(int, text.split(",")))
        if all(wrapped(value, type) == value for value in values):
            return values
    assert isinstance(type, IntegerType | FloatType)
    return tuple(_parse_values(context, text, offsets[0], type))


@action("dense_array")
def _dense_array(_context: ActionContext, parts: Parts, _offsets: list[int]) -> DenseArray:
    return DenseArray(parts[2], parts[4] if len(parts) == 6 else ())


def _parse_values(context: ActionContext, text: str, offset: int, type: IntegerType | FloatType) -> list[int]:
    element_parser = ElementParser(context, text, offset)
    values = []
    while True:
        is_negative = element_parser.accept("-")
        token, start = element_parser.token, element_parser.start
        if isinstance(type, FloatType):
            if not token[:1].isdigit():
                raise element_parser.error("expected floating point literal")
            values.append(float_bits(context, token, is_negative, type, start))
            element_parser.accept(token)
        else:
            values.append(_array_integer(element_parser, is_negative, type))
        if not element_parser.accept(","):
            break
    element_parser.expect_end("expected '>' to close an array attribute")
    return values


def _array_integer(element_parser: ElementParser, is_negative: bool, type: IntegerType) -> int:
    token = element_parser.token
    if token in ("true", "false"):
        if type is not I1:
            raise element_parser.error("expected i1 type for 'true' or 'false' values")
        element_parser.accept(token)
        return int(token == "true")
    if not token[:1].isdigit() or not token.isalnum():
        raise element_parser.error("expected integer literal")
    element_parser.accept(token)
    if type is I1:
        raise element_parser.error("expected 'true' or 'false' values for i1 type")
    if is_negative and type.is_unsigned:
        signed = integer_value(token, True, IntegerType(type.width))
        value = None if signed is None else wrapped(signed, type)
    else:
        value = integer_value(token, is_negative, type)
    if value is None:
        raise element_parser.error("integer constant out of range")
    return value
