"""How quantised types are written: `!quant.uniform<i8<-8:7>:f32:1, {2.0:3, 4.0}>`."""

from __future__ import annotations

from math import inf, ldexp
from struct import pack, unpack

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.quant.types import (
    MAX_STORAGE_WIDTH,
    AnyQuantized,
    CalibratedQuantized,
    QuantileType,
    QuantizedType,
    UniformQuantized,
    UniformQuantizedPerAxis,
    UniformQuantizedSubChannel,
    default_range,
    storage_width,
)
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.floats import decode, encode_double, float_text
from sdyopt.ir.types import F64, FloatType, IntegerType, Type
from sdyopt.syntax.cursor import WORD, Cursor
from sdyopt.syntax.spell import Speller

quant = Dialect("quant")
quant.unknown_type = "unknown quantized type {mnemonic}"

# --- Reading --------------------------------------------------------------------------------


# (is signed, type, minimum, maximum) of the numbers that are stored.
Storage = tuple[bool, Type, int, int]


class Parameters:
    """Scales and zeros, and how they are nested."""

    def __init__(self) -> None:
        self.scales: list[float] = []
        self.zeros: list[int] = []
        self.shape: list[int] = []


@quant.type("any")
def _parse_any(cursor: Cursor) -> Type:
    place = cursor.position - len("any")
    cursor.expect("<")
    storage = _storage(cursor)
    expressed = _expressed(cursor) if cursor.accept(":") else None
    cursor.expect(">")
    _check_range(cursor, storage, place)
    is_signed, type, minimum, maximum = storage
    return AnyQuantized(is_signed, type, expressed, minimum, maximum)


@quant.type("uniform")
def _parse_uniform(cursor: Cursor) -> Type:
    place = cursor.position - len("uniform")
    cursor.expect("<")
    storage = _storage(cursor)
    cursor.expect(":")
    expressed = _expressed(cursor)
    axis, blocks = None, None
    if cursor.accept(":"):
        if cursor.accept("{"):
            blocks = _blocks(cursor)
        else:
            axis = cursor.integer(32)
    cursor.expect(",")
    parameters = Parameters()
    if axis is None and blocks is None:
        _parameter(cursor, expressed, parameters)
    else:
        cursor.expect("{")
        parameters.shape = _parameter_list(cursor, expressed, parameters)
    cursor.expect(">")
    _check_range(cursor, storage, place)
    is_signed, type, minimum, maximum = storage
    common = (is_signed, type, expressed, minimum, maximum)
    if blocks is not None:
        _check_blocks(cursor, blocks, place)
        return UniformQuantizedSubChannel(
            *common,
            tuple(blocks),
            tuple(parameters.shape),
            tuple(encode_double(scale, expressed.format) for scale in parameters.scales),
            tuple(_wrapped(zero, type) for zero in parameters.zeros),
        )
    scales = tuple(map(bit_pattern, parameters.scales))
    if axis is None:
        return UniformQuantized(*common, scales[0], parameters.zeros[0])
    if axis < 0:
        raise cursor.error(f"illegal quantized dimension: {axis}", place)
    return UniformQuantizedPerAxis(*common, axis, scales, tuple(parameters.zeros))


@quant.type("calibrated")
def _parse_calibrated(cursor: Cursor) -> Type:
    place = cursor.position - len("calibrated")
    cursor.expect("<")
    offset = cursor.skip()
    try:
        expressed = _expressed(cursor)
    except DiagnosticError as error:
        raise error.then(cursor.error("expecting float expressed type", offset)) from None
    try:
        cursor.expect("<")
        minimum = cursor.floating()
        cursor.expect(":")
        maximum = cursor.floating()
        cursor.expect(">")
    except DiagnosticError as error:
        raise error.then(cursor.error("calibrated values must be present", offset)) from None
    cursor.expect(">")
    if maximum <= minimum:
        raise cursor.error(f"illegal min and max: ({minimum:e}:{maximum:e})", place)
    return CalibratedQuantized(expressed, bit_pattern(minimum), bit_pattern(maximum))


def _storage(cursor: Cursor) -> Storage:
    """Reads `i8`, `u8` or a small float type, and `<minimum:maximum>` behind it."""
    place = cursor.skip()
    match = WORD.match(cursor.text, place)
    word = match[1] if match is not None else ""
    if word.startswith("u") and not word.startswith("ui"):
        cursor.word()
        if not word[1:].isdigit():
            raise cursor.error("expected storage type width", place)
        width: int | None = int(word[1:10])
        is_signed = False
        type: Type = IntegerType(width or 0)
    else:
        type = _storage_type(cursor, word, place)
        width = storage_width(type)
        if width is None:
            raise cursor.error("illegal storage type prefix", place)
        is_unsigned = isinstance(type, IntegerType) and type.is_unsigned
        is_signed = not is_unsigned and not isinstance(type, QuantileType)
    if not width or width > MAX_STORAGE_WIDTH:
        raise cursor.error(f"illegal storage type size: {width}", place)
    lowest, highest = default_range(type, is_signed)
    if not cursor.accept("<"):
        return is_signed, type, lowest, highest
    place = cursor.skip()
    minimum = cursor.integer()
    cursor.expect(":")
    maximum_place = cursor.skip()
    maximum = cursor.integer()
    cursor.expect(">")
    if minimum < lowest:
        raise cursor.error(f"illegal storage type minimum: {minimum}", place)
    if maximum > highest:
        raise cursor.error(f"illegal storage type maximum: {maximum}", maximum_place)
    return is_signed, type, minimum, maximum


def _storage_type(cursor: Cursor, word: str, place: int) -> Type:
    if not word and cursor.text[place : place + 1] not in ("!", "("):
        raise cursor.unexpected("expected valid keyword")
    try:
        return cursor.type()
    except DiagnosticError:
        if not word:
            raise
        raise cursor.error("illegal storage type prefix", place) from None


def _expressed(cursor: Cursor) -> FloatType:
    place = cursor.skip()
    type = cursor.type()
    if not isinstance(type, FloatType):
        raise cursor.error("invalid kind of type specified", place)
    return type


def _blocks(cursor: Cursor) -> list[tuple[int, int]]:
    """Reads `0:2, 1:4}`."""
    if cursor.accept("}"):
        return []

    def block() -> tuple[int, int]:
        axis = cursor.integer(32)
        cursor.expect(":")
        return axis, cursor.integer()

    blocks = cursor.comma_list(block)
    cursor.expect("}")
    return blocks


def _parameter(cursor: Cursor, expressed: FloatType, parameters: Parameters) -> None:
    """Reads `scale:zero`."""
    scale = cursor.floating()
    smallest, largest = _magnitudes(expressed)
    if not smallest <= scale <= largest:
        message = f"scale {scale:e} out of expressed type range [{smallest:e}, {largest:e}]"
        raise cursor.error(message)
    parameters.scales.append(scale)
    parameters.zeros.append(cursor.integer() if cursor.accept(":") else 0)


def _parameter_list(cursor: Cursor, expressed: FloatType, parameters: Parameters) -> list[int]:
    """Reads `one, one, …}` and gives the shape of it."""
    shapes: list[list[int]] = []

    def one() -> None:
        if cursor.accept("{"):
            shape = _parameter_list(cursor, expressed, parameters)
        else:
            _parameter(cursor, expressed, parameters)
            shape = []
        if shapes and shape != shapes[0]:
            raise cursor.error("tensor literal is invalid; ranks are not consistent between elements")
        shapes.append(shape)

    cursor.comma_list(one)
    cursor.expect("}")
    return [len(shapes), *shapes[0]]


def _check_range(cursor: Cursor, storage: Storage, place: int) -> None:
    low, high = storage[2:]
    if high <= low:
        raise cursor.error(f"illegal storage min and storage max: ({low}:{high})", place)


def _check_blocks(cursor: Cursor, blocks: list[tuple[int, int]], place: int) -> None:
    for axis, _ in blocks:
        if axis < 0:
            raise cursor.error(f"illegal quantized dimension: {axis}", place)
    for _, size in blocks:
        if size <= 0:
            raise cursor.error(f"illegal block size: {size}", place)


def _magnitudes(type: FloatType) -> tuple[float, float]:
    """The least number above zero and the greatest number of a type, as far as doubles go."""
    format = type.format
    smallest = decode(1 if format.has_zero else 0, format)
    largest = decode(format.overflow - 1, format)
    if format.exponent_bits > F64.format.exponent_bits or smallest is None or largest is None:
        return 0.0, inf
    return ldexp(smallest.significand, smallest.exponent), ldexp(largest.significand, largest.exponent)


def _wrapped(zero: int, storage: Type) -> int:
    width = storage_width(storage) or 1
    zero &= (1 << width) - 1
    return zero - (1 << width) if zero >> (width - 1) else zero


def bit_pattern(value: float) -> int:
    """A double as the bits that it is kept as."""
    return int(unpack("<Q", pack("<d", value))[0])


# --- Writing --------------------------------------------------------------------------------


def _storage_text(type: QuantizedType, speller: Speller) -> str:
    storage = type.storage
    if isinstance(storage, IntegerType) and storage.is_signless and not type.is_signed:
        name = f"u{storage.width}"
    else:
        name = speller.type(storage)
    if (type.minimum, type.maximum) == default_range(storage, type.is_signed):
        return name
    return f"{name}<{type.minimum}:{type.maximum}>"


def _parameter_text(scale: int, zero: int, type: FloatType) -> str:
    text = float_text(scale, type.format)
    return f"{text}:{zero}" if zero else text


@quant.spelling(AnyQuantized)
def _spell_any(type: AnyQuantized, speller: Speller) -> str:
    expressed = "" if type.expressed is None else f":{speller.type(type.expressed)}"
    return f"any<{_storage_text(type, speller)}{expressed}>"


@quant.spelling(UniformQuantized)
def _spell_uniform(type: UniformQuantized, speller: Speller) -> str:
    numbers = f"{_storage_text(type, speller)}:{speller.type(type.expressed)}"
    return f"uniform<{numbers}, {_parameter_text(type.scale, type.zero, F64)}>"


@quant.spelling(UniformQuantizedPerAxis)
def _spell_per_axis(type: UniformQuantizedPerAxis, speller: Speller) -> str:
    numbers = f"{_storage_text(type, speller)}:{speller.type(type.expressed)}:{type.axis}"
    pairs = zip(type.scales, type.zero_points, strict=True)
    return f"uniform<{numbers}, {{{','.join(_parameter_text(*pair, F64) for pair in pairs)}}}>"


@quant.spelling(UniformQuantizedSubChannel)
def _spell_sub_channel(type: UniformQuantizedSubChannel, speller: Speller) -> str:
    blocks = ", ".join(f"{axis}:{size}" for axis, size in type.blocks)
    numbers = f"{_storage_text(type, speller)}:{speller.type(type.expressed)}:{{{blocks}}}"
    pairs = zip(type.scales, type.zero_points, strict=True)
    texts = [_parameter_text(*pair, type.expressed) for pair in pairs]
    for size in reversed(type.shape):
        texts = [f"{{{', '.join(texts[i : i + size])}}}" for i in range(0, len(texts), size)]
    return f"uniform<{numbers}, {texts[0]}>"


@quant.spelling(CalibratedQuantized)
def _spell_calibrated(type: CalibratedQuantized, speller: Speller) -> str:
    limits = ":".join(float_text(bits, F64.format) for bits in (type.minimum, type.maximum))
    return f"calibrated<{speller.type(type.expressed)}<{limits}>>"
