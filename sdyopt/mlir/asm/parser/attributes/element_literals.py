"""Number literals, lists of elements in `dense<…>`, `sparse<…>` and `array<…>`, and dense arrays.

A well-formed list of numbers is decoded in bulk. Any other list is parsed token by token, which finds
the errors and their locations.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Sequence

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import COMMENT, NUMBER, STRING_EXTENT, TRIVIA, WHITESPACE
from sdyopt.mlir.asm.parser.attributes.lr_parser import MAX_DEPTH
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Parts, action
from sdyopt.mlir.ir.builtin_attributes import DenseArray, can_be_negative, integer_width, wrapped
from sdyopt.mlir.ir.floats import encode_double
from sdyopt.mlir.ir.types import I1, FloatType, IndexType, IntegerType

# Longer literals count as out of range, because the time to convert and print them is quadratic.
_MAX_DIGITS = 100_000
# Python converts this many digits whatever its limit is.
_CHUNK_DIGITS = 600
_ARRAY_CODES = {8: "b", 16: "h", 32: "i", 64: "q"}
_FLOAT_CODES = {"f32": "f", "f64": "d"}


def integer_value(digits: str, is_negative: bool, type: IntegerType | IndexType) -> int | None:
    """The value of an integer literal of this type; None if it is out of range."""
    is_hexadecimal = digits[1:2] == "x"
    if len(digits) > _MAX_DIGITS:
        digits = "0x" + digits[2:].lstrip("0") if is_hexadecimal else digits.lstrip("0")
        if len(digits) > _MAX_DIGITS:
            return None
    width = integer_width(type)
    if not is_hexadecimal and len(digits) > width + _CHUNK_DIGITS:
        digits = digits.lstrip("0") or "0"
        if len(digits) > width + 1:  # a bit is less than a decimal digit
            return None
    value = int(digits, 16) if is_hexadecimal else _decimal(digits)
    if is_negative:
        value = -value
        # As in MLIR, `-0` and negative `i0` are out of range. Numbers of the widest type have 2 MiB.
        is_in_range = value < 0 and (~value).bit_length() < width
    elif isinstance(type, IndexType) or type.signedness.value == "s":
        is_in_range = value.bit_length() < max(width, 1)
    else:
        is_in_range = value.bit_length() <= width
    return wrapped(value, type) if is_in_range else None


def _decimal(digits: str) -> int:
    """The value of a decimal literal of any length; the length that `int` accepts is limited."""
    if len(digits) <= _CHUNK_DIGITS:
        return int(digits)
    middle = len(digits) // 2
    scale: int = 10 ** (len(digits) - middle)
    return _decimal(digits[:middle]) * scale + _decimal(digits[middle:])


def float_bits(context: ActionContext, digits: str, is_negative: bool, type: FloatType, offset: int) -> int:
    """The bits of a float literal: a decimal number with a dot, or the bits in hexadecimal."""
    if "." in digits:
        return encode_double(float("-" + digits if is_negative else digits), type.format)
    if digits[1:2] != "x":
        message = "unexpected decimal integer literal for a floating point value"
        raise context.error(message, offset).note("add a trailing dot to make the literal a float")
    if is_negative:
        raise context.error("hexadecimal float literal should not have a leading minus", offset)
    stripped = digits[2:].lstrip("0") or "0"
    if len(stripped) > _MAX_DIGITS or int(stripped, 16) >> type.width:
        raise context.error("hexadecimal float constant out of range for type", offset)
    return int(stripped, 16)


# Of integers that are wider than what is written.
_MOST_WIDE_BYTES = 1 << 27
TOO_WIDE = f"the elements take more than {_MOST_WIDE_BYTES >> 20} MiB"


def are_too_wide(count: int, type: IntegerType | IndexType) -> bool:
    """Whether so many integers take far more memory than their text."""
    width = integer_width(type)
    return width > 64 and count * width > 8 * _MOST_WIDE_BYTES


def pack_integers(values: Sequence[int], type: IntegerType | IndexType) -> bytes:
    """The bytes of integers that are in range of their type."""
    width = integer_width(type)
    code = _ARRAY_CODES.get(width)
    if code is not None:
        packed = array(code if can_be_negative(type) else code.upper(), values)
        return _little_endian(packed)
    size = max(1, (width + 7) // 8)
    mask = (1 << 8 * size) - 1
    return b"".join([(value & mask).to_bytes(size, "little") for value in values])


def pack_floats(texts: Sequence[str], type: FloatType) -> bytes:
    """The bytes of floats from decimal literals with a dot."""
    code = _FLOAT_CODES.get(type.name)
    if code is not None:
        return _little_endian(array(code, map(float, texts)))
    size = (type.width + 7) // 8
    format = type.format
    cache: dict[str, bytes] = {}
    packed = []
    for text in texts:
        bits = cache.get(text)
        if bits is None:
            encoded = encode_double(float(text), format) & ((1 << 8 * size) - 1)
            bits = cache[text] = encoded.to_bytes(size, "little")
        packed.append(bits)
    return b"".join(packed)


def _little_endian(packed: array[int] | array[float]) -> bytes:
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


_COMMENT = constant_pattern(COMMENT)
_NUMBER = constant_pattern(f"(?:-{WHITESPACE}+)?+(?:{NUMBER}|true|false)")
_WITHOUT_WHITESPACE = str.maketrans("", "", " \t\r\n")
_TOKEN = constant_pattern(
    rf"{TRIVIA}(?:({NUMBER}|(?:true|false)\b|{STRING_EXTENT})|([][(),-])|(\S))?", re.ASCII
)


@dataclass(slots=True)
class ElementList:
    """Parsed elements in order, and the shape of their list, None for a single element.

    A complex element is two elements here. `texts` are without the minus sign; `negative` marks the elements
    that have one.
    """

    shape: tuple[int, ...] | None = None
    texts: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    negative: list[bool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NumberList:
    """Numbers, with their minus signs, and the shape of their list, None for a single number."""

    shape: tuple[int, ...] | None
    numbers: list[str]
    is_complex: bool


def decode_numbers(text: str) -> NumberList | None:
    """The numbers of a well-formed list, or a single number; None if the text is anything else."""
    if '"' in text:
        return None
    if "//" in text:
        text = _COMMENT.sub("", text)
    skeleton = _NUMBER.sub("x", text).translate(_WITHOUT_WHITESPACE)
    element = "(x,x)" if "(" in skeleton else "x"
    shape = _shape(skeleton, element)
    if shape is None and skeleton != element:
        return None
    text = text.translate(_WITHOUT_WHITESPACE)
    for bracket in "[]()":
        text = text.replace(bracket, "")
    return NumberList(shape, text.split(","), element != "x")


def _shape(skeleton: str, element: str) -> tuple[int, ...] | None:
    """The shape of a nested list; None for other text, or if lists of the same depth differ in size."""
    depth = len(skeleton) - len(skeleton.lstrip("["))
    # Each level takes time, so a list that is too deep is left to the parser, which stops at the limit.
    if not 0 < depth <= MAX_DEPTH:
        return None
    shape: list[int] = []
    for level in range(depth):
        # The first list of this level ends at the first run of `level + 1` closing brackets.
        end = skeleton.find("]" * (level + 1), depth) + level
        size = (end - (depth - level) + 1) // (len(element) + 1)
        if size < 1:
            return None
        element = f"[{','.join([element] * size)}]"
        shape.insert(0, size)
    return tuple(shape) if element == skeleton else None


def parse_elements(context: ActionContext, text: str, offset: int) -> ElementList:
    """Parses a list of elements, or a single one, that is the whole text; raises DiagnosticError."""
    element_parser = ElementParser(context, text, offset)
    elements = element_parser.elements()
    element_parser.expect_end("expected '>'")
    return elements


class ElementParser:
    """Parses elements token by token."""

    def __init__(self, context: ActionContext, text: str, offset: int) -> None:
        self._context = context
        self._text = text
        self._offset = offset
        self._position = 0
        self._elements = ElementList()
        self._advance()

    def elements(self) -> ElementList:
        """Parses a list or a single element."""
        elements = self._elements = ElementList()
        if self._token == "[":
            elements.shape = self._list(1)
        else:
            self._element(1)
        return elements

    def accept(self, token: str) -> bool:
        if self._token != token:
            return False
        self._advance()
        return True

    def expect(self, token: str, message: str) -> None:
        if not self.accept(token):
            raise self._context.wrong_token_error(message, self._start)

    def expect_end(self, message: str) -> None:
        if self._token:
            raise self._context.wrong_token_error(message, self._start)

    def error(self, message: str) -> Exception:
        return self._context.error(message, self._start)

    @property
    def token(self) -> str:
        return self._token

    @property
    def start(self) -> int:
        return self._start

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._position)
        assert match is not None
        group = match.lastindex
        self._token = match[group] if group else ""
        self._start = self._offset + (match.start(group) if group else match.end())
        self._position = match.end()
        self._is_literal = group == 1
        if group == 3 and self._token == ".":
            message = "expected three consecutive dots for an ellipsis"
            raise self._context.error(message, self._start + 1)
        if group == 3 and not (self._token.isalpha() or self._token in "_:+*?=@%|/"):
            raise self.error("unexpected character")

    def _list(self, depth: int) -> tuple[int, ...]:
        if depth > MAX_DEPTH:
            raise self.error("nesting is too deep")
        self._advance()
        size = 0
        inner_shape: tuple[int, ...] = ()
        if self.accept("]"):
            return (0,)
        while True:
            shape: tuple[int, ...] = ()
            if self._token == "[":
                shape = self._list(depth + 1)
            else:
                self._element(depth + 1)
            if size and shape != inner_shape:
                raise self.error("tensor literal is invalid; ranks are not consistent between elements")
            size, inner_shape = size + 1, shape
            if not self.accept(","):
                break
        self.expect("]", "expected ']'")
        return (size, *inner_shape)

    def _element(self, depth: int) -> None:
        if self._token == "(":
            if depth > MAX_DEPTH:
                raise self.error("nesting is too deep")
            self._advance()
            self._element(depth + 1)
            self.expect(",", "expected ',' between complex elements")
            self._element(depth + 1)
            self.expect(")", "expected ')' after complex elements")
            return
        is_negative = self.accept("-")
        if is_negative and not (self._is_literal and self._token[0].isdigit()):
            raise self.error("expected integer or floating point literal")
        if not self._is_literal:
            raise self.error("expected element literal of primitive type")
        self._elements.texts.append(self._token)
        self._elements.offsets.append(self._start)
        self._elements.negative.append(is_negative)
        self._advance()

    def array_integer(self, is_negative: bool, type: IntegerType) -> int:
        token = self.token
        if token in ("true", "false"):
            if type is not I1:
                raise self.error("expected i1 type for 'true' or 'false' values")
            self.accept(token)
            return int(token == "true")
        if not token[:1].isdigit() or not token.isalnum():
            raise self.error("expected integer literal")
        self.accept(token)
        if type is I1:
            raise self.error("expected 'true' or 'false' values for i1 type")
        if is_negative and type.is_unsigned:
            signed = integer_value(token, True, IntegerType(type.width))
            value = None if signed is None else wrapped(signed, type)
        else:
            value = integer_value(token, is_negative, type)
        if value is None:
            raise self.error("integer constant out of range")
        return value


# Without `-0`, which is out of range for MLIR.
_DECIMAL = r" *(?!-0)-?\d{1,18} *"
_DECIMALS = constant_pattern(f"{_DECIMAL}(?:,{_DECIMAL})*+", re.ASCII)


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
            values.append(element_parser.array_integer(is_negative, type))
        if not element_parser.accept(","):
            break
    element_parser.expect_end("expected '>' to close an array attribute")
    return values
