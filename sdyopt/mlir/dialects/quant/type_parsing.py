"""Parses quantized types: `!quant.uniform<i8<-8:7>:f32:1, {2.0:3, 4.0}>`."""

from __future__ import annotations

from math import inf, ldexp
from struct import pack, unpack
from typing import NamedTuple

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.parser.asm_parser import KEYWORD, AsmParser
from sdyopt.mlir.dialects.quant.dialect import quant
from sdyopt.mlir.dialects.quant.types import (
    MAX_STORAGE_WIDTH,
    AnyQuantized,
    CalibratedQuantized,
    QuantileType,
    UniformQuantized,
    UniformQuantizedPerAxis,
    UniformQuantizedSubChannel,
    default_range,
    storage_width,
)
from sdyopt.mlir.ir.floats import decode, encode_double
from sdyopt.mlir.ir.types import F64, FloatType, IntegerType, Type


class _Storage(NamedTuple):
    """The storage type and the range of stored numbers."""

    is_signed: bool
    type: Type
    minimum: int
    maximum: int


@dataclass
class _Parameters:
    """Scales and zero points, and the shape of the lists that they are nested in."""

    scales: list[float] = field(default_factory=list)
    zero_points: list[int] = field(default_factory=list)
    shape: list[int] = field(default_factory=list)


@quant.type("any")
def _parse_any(parser: AsmParser) -> Type:
    offset = parser.position - len("any")
    parser.expect("<")
    storage = _parse_storage(parser)
    expressed = _parse_expressed(parser) if parser.accept(":") else None
    parser.expect(">")
    _check_range(parser, storage, offset)
    return AnyQuantized(storage.is_signed, storage.type, expressed, storage.minimum, storage.maximum)


@quant.type("uniform")
def _parse_uniform(parser: AsmParser) -> Type:
    offset = parser.position - len("uniform")
    parser.expect("<")
    storage = _parse_storage(parser)
    parser.expect(":")
    expressed = _parse_expressed(parser)
    axis, blocks = None, None
    if parser.accept(":"):
        if parser.accept("{"):
            blocks = _parse_blocks(parser)
        else:
            axis = parser.integer(32)
    parser.expect(",")
    parameters = _Parameters()
    if axis is None and blocks is None:
        _parse_parameter(parser, expressed, parameters)
    else:
        parser.expect("{")
        parameters.shape = _parse_parameter_list(parser, expressed, parameters)
    parser.expect(">")
    _check_range(parser, storage, offset)
    common = (storage.is_signed, storage.type, expressed, storage.minimum, storage.maximum)
    if blocks is not None:
        _check_blocks(parser, blocks, offset)
        return UniformQuantizedSubChannel(
            *common,
            tuple(blocks),
            tuple(parameters.shape),
            tuple(encode_double(scale, expressed.format) for scale in parameters.scales),
            tuple(_wrap(zero, storage.type) for zero in parameters.zero_points),
        )
    scales = tuple(map(bit_pattern, parameters.scales))
    if axis is None:
        return UniformQuantized(*common, scales[0], parameters.zero_points[0])
    if axis < 0:
        raise parser.error(f"illegal quantized dimension: {axis}", offset)
    return UniformQuantizedPerAxis(*common, axis, scales, tuple(parameters.zero_points))


@quant.type("calibrated")
def _parse_calibrated(parser: AsmParser) -> Type:
    parser.expect("<")
    offset = parser.skip_trivia()
    try:
        expressed = _parse_expressed(parser)
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


def _parse_storage(parser: AsmParser) -> _Storage:
    """Parses a storage type such as `i8`, `u8` or `f8E5M2`, and `<minimum:maximum>` after it, if present."""
    offset = parser.skip_trivia()
    match = KEYWORD.match(parser.text, offset)
    word = match[1] if match is not None else ""
    if word.startswith("u") and not word.startswith("ui"):
        parser.keyword()
        if not word[1:].isdigit():
            raise parser.error("expected storage type width", offset)
        width: int | None = int(word[1:10])
        is_signed = False
        type: Type = IntegerType(width or 0)
    else:
        type = _parse_storage_type(parser, word, offset)
        width = storage_width(type)
        if width is None:
            raise parser.error("illegal storage type prefix", offset)
        is_unsigned = isinstance(type, IntegerType) and type.is_unsigned
        is_signed = not is_unsigned and not isinstance(type, QuantileType)
    if not width or width > MAX_STORAGE_WIDTH:
        raise parser.error(f"illegal storage type size: {width}", offset)
    lowest, highest = default_range(type, is_signed)
    if not parser.accept("<"):
        return _Storage(is_signed, type, lowest, highest)
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
    return _Storage(is_signed, type, minimum, maximum)


def _parse_storage_type(parser: AsmParser, word: str, offset: int) -> Type:
    if not word and parser.text[offset : offset + 1] not in ("!", "("):
        raise parser.error_at_next_token("expected valid keyword")
    try:
        return parser.type()
    except DiagnosticError:
        if not word:
            raise
        raise parser.error("illegal storage type prefix", offset) from None


def _parse_expressed(parser: AsmParser) -> FloatType:
    offset = parser.skip_trivia()
    type = parser.type()
    if not isinstance(type, FloatType):
        raise parser.error("invalid kind of type specified", offset)
    return type


def _parse_blocks(parser: AsmParser) -> list[tuple[int, int]]:
    """Parses `0:2, 1:4}`."""
    if parser.accept("}"):
        return []

    def parse_block() -> tuple[int, int]:
        axis = parser.integer(32)
        parser.expect(":")
        return axis, parser.integer()

    blocks = parser.comma_list(parse_block)
    parser.expect("}")
    return blocks


def _parse_parameter(parser: AsmParser, expressed: FloatType, parameters: _Parameters) -> None:
    """Parses `scale` or `scale:zero_point`."""
    scale = parser.floating()
    smallest, largest = _magnitude_range(expressed)
    if not smallest <= scale <= largest:
        message = f"scale {scale:e} out of expressed type range [{smallest:e}, {largest:e}]"
        raise parser.error(message)
    parameters.scales.append(scale)
    parameters.zero_points.append(parser.integer() if parser.accept(":") else 0)


def _parse_parameter_list(parser: AsmParser, expressed: FloatType, parameters: _Parameters) -> list[int]:
    """Parses `element, element, …}`, where elements are parameters or nested lists; returns the shape."""
    shapes: list[list[int]] = []

    def parse_element() -> None:
        if parser.accept("{"):
            shape = _parse_parameter_list(parser, expressed, parameters)
        else:
            _parse_parameter(parser, expressed, parameters)
            shape = []
        if shapes and shape != shapes[0]:
            raise parser.error("tensor literal is invalid; ranks are not consistent between elements")
        shapes.append(shape)

    parser.comma_list(parse_element)
    parser.expect("}")
    return [len(shapes), *shapes[0]]


def _check_range(parser: AsmParser, storage: _Storage, offset: int) -> None:
    if storage.maximum <= storage.minimum:
        limits = f"({storage.minimum}:{storage.maximum})"
        raise parser.error(f"illegal storage min and storage max: {limits}", offset)


def _check_blocks(parser: AsmParser, blocks: list[tuple[int, int]], offset: int) -> None:
    for axis, _ in blocks:
        if axis < 0:
            raise parser.error(f"illegal quantized dimension: {axis}", offset)
    for _, size in blocks:
        if size <= 0:
            raise parser.error(f"illegal block size: {size}", offset)


def _magnitude_range(type: FloatType) -> tuple[float, float]:
    """The smallest positive and the largest finite number of a type; 0 and infinity if doubles lack them."""
    format = type.format
    smallest = decode(1 if format.has_zero else 0, format)
    largest = decode(format.finite_limit - 1, format)
    if format.exponent_bits > F64.format.exponent_bits or smallest is None or largest is None:
        return 0.0, inf
    return ldexp(smallest.significand, smallest.exponent), ldexp(largest.significand, largest.exponent)


def _wrap(zero: int, storage: Type) -> int:
    """Wraps a zero point to a signed integer of the storage width."""
    width = storage_width(storage) or 1
    zero &= (1 << width) - 1
    return zero - (1 << width) if zero >> (width - 1) else zero


def bit_pattern(value: float) -> int:
    """The bits of a double."""
    return int(unpack("<Q", pack("<d", value))[0])
