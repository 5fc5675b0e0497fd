"""Values and bytes of integer and float literals."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext
from sdyopt.mlir.ir.builtin_attributes import can_be_negative, integer_width, wrapped
from sdyopt.mlir.ir.floats import encode_double
from sdyopt.mlir.ir.types import FloatType, IndexType, IntegerType

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
        # As in MLIR, `-0` and negative `i0` are out of range.
        is_in_range = width > 0 and -(1 << (width - 1)) <= value < 0
    elif isinstance(type, IndexType) or type.signedness.value == "s":
        is_in_range = value < 1 << max(width - 1, 0)
    else:
        is_in_range = value < 1 << width
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
        raise _needs_dot(context, offset)
    if is_negative:
        raise context.error("hexadecimal float literal should not have a leading minus", offset)
    stripped = digits[2:].lstrip("0") or "0"
    if len(stripped) > _MAX_DIGITS or int(stripped, 16) >> type.width:
        raise context.error("hexadecimal float constant out of range for type", offset)
    return int(stripped, 16)


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


def _needs_dot(context: ActionContext, offset: int) -> DiagnosticError:
    message = "unexpected decimal integer literal for a floating point value"
    return context.error(message, offset).note("add a trailing dot to make the literal a float")
