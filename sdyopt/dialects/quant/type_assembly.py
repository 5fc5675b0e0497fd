"""How quantised types are written: `!quant.uniform<i8<-8:7>:f32:1, {2.0:3, 4.0}>`."""

from __future__ import annotations

from math import inf, ldexp
from struct import pack, unpack

from sdyopt.asm.parser.asm_parser import KEYWORD, AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
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
def _parse_any(parser: AsmParser) -> Type:
    offset = parser.position - len("any")
    parser.expect("<")
    storage = _storage(parser)
    expressed = _expressed(parser) if parser.accept(":") else None
    parser.expect(">")
    _check_range(parser, storage, offset)
    is_signed, type, minimum, maximum = storage
    return AnyQuantized(is_signed, type, expressed, minimum, maximum)


@quant.type("uniform")
def _parse_uniform(parser: AsmParser) -> Type:
    offset = parser.position - len("uniform")
    parser.expect("<")
    storage = _storage(parser)
    parser.expect(":")
    expressed = _expressed(parser)
    axis, blocks = None, None
    if parser.accept(":"):
        if parser.accept("{"):
            blocks = _blocks(parser)
        else:
            axis = parser.integer(32)
    parser.expect(",")
    parameters = Parameters()
    if axis is None and blocks is None:
        _parameter(parser, expressed, parameters)
    else:
        parser.expect("{")
        parameters.shape = _parameter_list(parser, expressed, parameters)
    parser.expect(">")
    _check_range(parser, storage, offset)
    is_signed, type, minimum, maximum = storage
    common = (is_signed, type, expressed, minimum, maximum)
    if blocks is not None:
        _check_blocks(parser, blocks, offset)
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
        raise parser.error(f"illegal quantized dimension: {axis}", offset)
    return UniformQuantizedPerAxis(*common, axis, scales, tuple(parameters.zeros))


@quant.type("calibrated")
def _parse_calibrated(parser: AsmParser) -> Type:
    offset = parser.position - len("calibrated")
    parser.expect("<")
    offset = parser.skip_trivia()
    try:
        expressed = _expressed(parser)
    except DiagnosticError as error:
        raise error.then(parser.error("expecting float expressed type", offset)) from None
    try:
        parser.expect("<")
        minimum = parser.floating()
        parser.expect(":")
        maximum = parser.floating()
        parser.expect(">")
    except DiagnosticError as error:
        raise error.then(parser.error("calibrated values must be present", offset)) from None
    parser.expect(">")
    if maximum <= minimum:
        raise parser.error(f"illegal min and max: ({minimum:e}:{maximum:e})", offset)
    return CalibratedQuantized(expressed, bit_pattern(minimum), bit_pattern(maximum))


def _storage(parser: AsmParser) -> Storage:
    """Reads `i8`, `u8` or a small float type, and `<minimum:maximum>` behind it."""
    offset = parser.skip_trivia()
    match = KEYWORD.match(parser.text, offset)
    word = match[1] if match is not None else ""
    if word.startswith("u") and not word.startswith("ui"):
        parser.word()
        if not word[1:].isdigit():
            raise parser.error("expected storage type width", offset)
        width: int | None = int(word[1:10])
        is_signed = False
        type: Type = IntegerType(width or 0)
    else:
        type = _storage_type(parser, word, offset)
        width = storage_width(type)
        if width is None:
            raise parser.error("illegal storage type prefix", offset)
        is_unsigned = isinstance(type, IntegerType) and type.is_unsigned
        is_signed = not is_unsigned and not isinstance(type, QuantileType)
    if not width or width > MAX_STORAGE_WIDTH:
        raise parser.error(f"illegal storage type size: {width}", offset)
    lowest, highest = default_range(type, is_signed)
    if not parser.accept("<"):
        return is_signed, type, lowest, highest
    offset = parser.skip_trivia()
    minimum = parser.integer()
    parser.expect(":")
    maximum_offset = parser.skip_trivia()
    maximum = parser.integer()
    parser.expect(">")
    if minimum < lowest:
        raise parser.error(f"illegal storage type minimum: {minimum}", offset)
    if maximum > highest:
        raise parser.error(f"illegal storage type maximum: {maximum}", maximum_offset)
    return is_signed, type, minimum, maximum


def _storage_type(parser: AsmParser, word: str, offset: int) -> Type:
    if not word and parser.text[offset : offset + 1] not in ("!", "("):
        raise parser.error_at_next_token("expected valid keyword")
    try:
        return parser.type()
    except DiagnosticError:
        if not word:
            raise
        raise parser.error("illegal storage type prefix", offset) from None


def _expressed(parser: AsmParser) -> FloatType:
    offset = parser.skip_trivia()
    type = parser.type()
    if not isinstance(type, FloatType):
        raise parser.error("invalid kind of type specified", offset)
    return type


def _blocks(parser: AsmParser) -> list[tuple[int, int]]:
    """Reads `0:2, 1:4}`."""
    if parser.accept("}"):
        return []

    def block() -> tuple[int, int]:
        axis = parser.integer(32)
        parser.expect(":")
        return axis, parser.integer()

    blocks = parser.comma_list(block)
    parser.expect("}")
    return blocks


def _parameter(parser: AsmParser, expressed: FloatType, parameters: Parameters) -> None:
    """Reads `scale:zero`."""
    scale = parser.floating()
    smallest, largest = _magnitudes(expressed)
    if not smallest <= scale <= largest:
        message = f"scale {scale:e} out of expressed type range [{smallest:e}, {largest:e}]"
        raise parser.error(message)
    parameters.scales.append(scale)
    parameters.zeros.append(parser.integer() if parser.accept(":") else 0)


def _parameter_list(parser: AsmParser, expressed: FloatType, parameters: Parameters) -> list[int]:
    """Reads `one, one, …}` and gives the shape of it."""
    shapes: list[list[int]] = []

    def one() -> None:
        if parser.accept("{"):
            shape = _parameter_list(parser, expressed, parameters)
        else:
            _parameter(parser, expressed, parameters)
            shape = []
        if shapes and shape != shapes[0]:
            raise parser.error("tensor literal is invalid; ranks are not consistent between elements")
        shapes.append(shape)

    parser.comma_list(one)
    parser.expect("}")
    return [len(shapes), *shapes[0]]


def _check_range(parser: AsmParser, storage: Storage, offset: int) -> None:
    low, high = storage[2:]
    if high <= low:
        raise parser.error(f"illegal storage min and storage max: ({low}:{high})", offset)


def _check_blocks(parser: AsmParser, blocks: list[tuple[int, int]], offset: int) -> None:
    for axis, _ in blocks:
        if axis < 0:
            raise parser.error(f"illegal quantized dimension: {axis}", offset)
    for _, size in blocks:
        if size <= 0:
            raise parser.error(f"illegal block size: {size}", offset)


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


def _storage_text(type: QuantizedType, attribute_printer: AttributePrinter) -> str:
    storage = type.storage
    if isinstance(storage, IntegerType) and storage.is_signless and not type.is_signed:
        name = f"u{storage.width}"
    else:
        name = attribute_printer.type(storage)
    if (type.minimum, type.maximum) == default_range(storage, type.is_signed):
        return name
    return f"{name}<{type.minimum}:{type.maximum}>"


def _parameter_text(scale: int, zero: int, type: FloatType) -> str:
    text = float_text(scale, type.format)
    return f"{text}:{zero}" if zero else text


@quant.printer(AnyQuantized)
def _print_any(type: AnyQuantized, attribute_printer: AttributePrinter) -> str:
    expressed = "" if type.expressed is None else f":{attribute_printer.type(type.expressed)}"
    return f"any<{_storage_text(type, attribute_printer)}{expressed}>"


@quant.printer(UniformQuantized)
def _print_uniform(type: UniformQuantized, attribute_printer: AttributePrinter) -> str:
    numbers = f"{_storage_text(type, attribute_printer)}:{attribute_printer.type(type.expressed)}"
    return f"uniform<{numbers}, {_parameter_text(type.scale, type.zero, F64)}>"


@quant.printer(UniformQuantizedPerAxis)
def _print_per_axis(type: UniformQuantizedPerAxis, attribute_printer: AttributePrinter) -> str:
    numbers = f"{_storage_text(type, attribute_printer)}:{attribute_printer.type(type.expressed)}:{type.axis}"
    pairs = zip(type.scales, type.zero_points, strict=True)
    return f"uniform<{numbers}, {{{','.join(_parameter_text(*pair, F64) for pair in pairs)}}}>"


@quant.printer(UniformQuantizedSubChannel)
def _print_sub_channel(type: UniformQuantizedSubChannel, attribute_printer: AttributePrinter) -> str:
    blocks = ", ".join(f"{axis}:{size}" for axis, size in type.blocks)
    numbers = (
        f"{_storage_text(type, attribute_printer)}:{attribute_printer.type(type.expressed)}:{{{blocks}}}"
    )
    pairs = zip(type.scales, type.zero_points, strict=True)
    texts = [_parameter_text(*pair, type.expressed) for pair in pairs]
    for size in reversed(type.shape):
        texts = [f"{{{', '.join(texts[i : i + size])}}}" for i in range(0, len(texts), size)]
    return f"uniform<{numbers}, {texts[0]}>"


@quant.printer(CalibratedQuantized)
def _print_calibrated(type: CalibratedQuantized, attribute_printer: AttributePrinter) -> str:
    limits = ":".join(float_text(bits, F64.format) for bits in (type.minimum, type.maximum))
    return f"calibrated<{attribute_printer.type(type.expressed)}<{limits}>>"
