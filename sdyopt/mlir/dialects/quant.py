"""The quant dialect: quantized types, their text, and the quantile types of their elements."""

from __future__ import annotations

from math import inf, isfinite, ldexp
from struct import pack, unpack

from sdyopt.base.dataclasses import NamedTuple, dataclass, field
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.parser.asm_parser import KEYWORD, AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.floats import decode, encode_double, float_text
from sdyopt.mlir.ir.types import F64, FloatType, IntegerType, Type

quant = Dialect("quant", is_partial=True)
quant.unknown_type = ErrorKind("unknown quantized type {mnemonic}")


MAX_STORAGE_WIDTH = 32

# The largest number of each floating-point storage type.
_FLOAT_RANGES = {"f8E5M2": 57344, "f8E4M3FN": 448, "f4E2M1FN": 6}


class QuantizedType(Type):
    """Base of the quantized types: numbers of type `expressed`, stored as numbers of type `storage`.

    Stored numbers are between `minimum` and `maximum`; integers among them are signed if `is_signed`.
    Scales are `f64` bit patterns unless the subclass states otherwise.
    """

    __slots__ = ()

    is_signed: bool
    storage: Type
    expressed: FloatType | None
    minimum: int
    maximum: int
    dialect = "quant"

    @property
    def all_zero_points(self) -> tuple[int, ...]:
        """The zero points; none if the type has no quantization parameters."""
        return ()

    def storage_text(self, attribute_printer: AttributePrinter) -> str:
        storage = self.storage
        if isinstance(storage, IntegerType) and storage.is_signless and not self.is_signed:
            name = f"u{storage.width}"
        else:
            name = attribute_printer.type(storage)
        if (self.minimum, self.maximum) == default_range(storage, self.is_signed):
            return name
        return f"{name}<{self.minimum}:{self.maximum}>"


class AnyQuantized(QuantizedType):
    """`!quant.any<i8<-8:7>:f32>`: storage without quantization parameters."""

    is_signed: bool
    storage: Type
    expressed: FloatType | None
    minimum: int
    maximum: int


class UniformQuantized(QuantizedType):
    """`!quant.uniform<i8:f32, 2.0:3>`: the stored number x represents (x - zero_point) * scale."""

    is_signed: bool
    storage: Type
    expressed: FloatType
    minimum: int
    maximum: int
    scale: int
    zero_point: int

    @property
    def all_zero_points(self) -> tuple[int, ...]:
        return (self.zero_point,)


class UniformQuantizedPerAxis(QuantizedType):
    """`!quant.uniform<i8:f32:1, {2.0:3, 4.0}>`: a scale and a zero point per index along `axis`."""

    is_signed: bool
    storage: Type
    expressed: FloatType
    minimum: int
    maximum: int
    axis: int
    scales: tuple[int, ...]
    zero_points: tuple[int, ...]

    @property
    def all_zero_points(self) -> tuple[int, ...]:
        return self.zero_points


class UniformQuantizedSubChannel(QuantizedType):
    """`!quant.uniform<i8:f32:{0:2}, {{2.0:3}}>`: a scale and a zero point per block of a tensor.

    `blocks` are pairs of axis and block size. Scales are bit patterns of the expressed type; `shape` is
    the shape of the nested lists of scales and zero points.
    """

    is_signed: bool
    storage: Type
    expressed: FloatType
    minimum: int
    maximum: int
    blocks: tuple[tuple[int, int], ...]
    shape: tuple[int, ...]
    scales: tuple[int, ...]
    zero_points: tuple[int, ...]

    @property
    def all_zero_points(self) -> tuple[int, ...]:
        return self.zero_points


class CalibratedQuantized(Type):
    """`!quant.calibrated<f32<-1.0:1.0>>`: the observed range of values, as `f64` bit patterns."""

    expressed: FloatType
    minimum: int
    maximum: int
    dialect = "quant"


class QuantileType(Type):
    """`!quant.quantile<i1:f16, {-1.0,1.0}>`: a stored number is an index into a lookup table.

    `values` are the table, as `f64` bit patterns. `limits` are the minimum and maximum of stored numbers;
    None if they are not written, and then 0 and the largest unsigned number of the storage width.
    """

    storage: Type
    quantile: FloatType
    values: tuple[int, ...]
    limits: tuple[int, int] | None
    dialect = "quant"


def storage_width(type: Type) -> int | None:
    """The bit width of a storage type; None for other types."""
    if isinstance(type, QuantileType):
        return storage_width(type.storage)
    if isinstance(type, FloatType):
        return type.width if type.name in _FLOAT_RANGES else None
    return type.width if isinstance(type, IntegerType) else None


def default_range(type: Type, is_signed: bool) -> tuple[int, int]:
    """The minimum and maximum of stored numbers if the quantized type writes none."""
    if isinstance(type, QuantileType):
        return type.limits or (0, (1 << (storage_width(type) or 0)) - 1)
    if isinstance(type, FloatType):
        limit = _FLOAT_RANGES[type.name]
        return -limit, limit
    assert isinstance(type, IntegerType)
    if is_signed:
        return -(1 << (type.width - 1)), (1 << (type.width - 1)) - 1
    return 0, (1 << type.width) - 1


def _parameter_text(scale: int, zero: int, type: FloatType) -> str:
    text = float_text(scale, type.format)
    return f"{text}:{zero}" if zero else text


@quant.printer(AnyQuantized)
def print_any(type: AnyQuantized, attribute_printer: AttributePrinter) -> str:
    expressed = "" if type.expressed is None else f":{attribute_printer.type(type.expressed)}"
    return f"any<{type.storage_text(attribute_printer)}{expressed}>"


@quant.printer(UniformQuantized)
def print_uniform(type: UniformQuantized, attribute_printer: AttributePrinter) -> str:
    prefix = f"{type.storage_text(attribute_printer)}:{attribute_printer.type(type.expressed)}"
    return f"uniform<{prefix}, {_parameter_text(type.scale, type.zero_point, F64)}>"


@quant.printer(UniformQuantizedPerAxis)
def print_per_axis(type: UniformQuantizedPerAxis, attribute_printer: AttributePrinter) -> str:
    prefix = f"{type.storage_text(attribute_printer)}:{attribute_printer.type(type.expressed)}:{type.axis}"
    pairs = zip(type.scales, type.zero_points, strict=True)
    return f"uniform<{prefix}, {{{','.join(_parameter_text(*pair, F64) for pair in pairs)}}}>"


@quant.printer(UniformQuantizedSubChannel)
def print_sub_channel(type: UniformQuantizedSubChannel, attribute_printer: AttributePrinter) -> str:
    blocks = ", ".join(f"{axis}:{size}" for axis, size in type.blocks)
    prefix = f"{type.storage_text(attribute_printer)}:{attribute_printer.type(type.expressed)}:{{{blocks}}}"
    pairs = zip(type.scales, type.zero_points, strict=True)
    texts = [_parameter_text(*pair, type.expressed) for pair in pairs]
    for size in reversed(type.shape):
        texts = [f"{{{', '.join(texts[i : i + size])}}}" for i in range(0, len(texts), size)]
    return f"uniform<{prefix}, {texts[0]}>"


@quant.printer(CalibratedQuantized)
def print_calibrated(type: CalibratedQuantized, attribute_printer: AttributePrinter) -> str:
    limits = ":".join(float_text(bits, F64.format) for bits in (type.minimum, type.maximum))
    return f"calibrated<{attribute_printer.type(type.expressed)}<{limits}>>"


class _Storage(NamedTuple):
    """The storage type and the range of stored numbers."""

    is_signed: bool
    type: Type
    minimum: int
    maximum: int

    @staticmethod
    def parse(parser: AsmParser) -> _Storage:
        """Parses a storage type such as `i8`, `u8` or `f8E5M2`, and `<minimum:maximum>` after it, if any."""
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

    def check_range(self, parser: AsmParser, offset: int) -> None:
        if self.maximum <= self.minimum:
            limits = f"({self.minimum}:{self.maximum})"
            raise parser.error(f"illegal storage min and storage max: {limits}", offset)


@dataclass
class _Parameters:
    """Scales and zero points, and the shape of the lists that they are nested in."""

    scales: list[float] = field(default_factory=list)
    zero_points: list[int] = field(default_factory=list)
    shape: list[int] = field(default_factory=list)


@quant.type("any")
def parse_any(parser: AsmParser) -> Type:
    offset = parser.position - len("any")
    parser.expect("<")
    storage = _Storage.parse(parser)
    expressed = _parse_expressed(parser) if parser.accept(":") else None
    parser.expect(">")
    storage.check_range(parser, offset)
    return AnyQuantized(storage.is_signed, storage.type, expressed, storage.minimum, storage.maximum)


@quant.type("uniform")
def parse_uniform(parser: AsmParser) -> Type:
    offset = parser.position - len("uniform")
    parser.expect("<")
    storage = _Storage.parse(parser)
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
    storage.check_range(parser, offset)
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
def parse_calibrated(parser: AsmParser) -> Type:
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


@quant.type("quantile")
def parse(parser: AsmParser) -> Type:
    offset = parser.position - len("quantile")
    parser.expect("<")
    storage = parser.type()
    parser.expect(":")
    quantile = parser.type()
    parser.expect(",")
    values = parser.comma_list(parser.floating, "{", "}")
    limits = _parse_limits(parser) if parser.accept(",") else None
    parser.expect(">")
    error = _type_error(storage, quantile, values, limits)
    if error is not None:
        raise parser.error(error, offset)
    assert isinstance(quantile, FloatType)
    return QuantileType(storage, quantile, tuple(map(bit_pattern, values)), limits)


def _parse_limits(parser: AsmParser) -> tuple[int, int]:
    """Parses `<minimum:maximum>`."""
    parser.expect("<")
    minimum = parser.integer()
    parser.expect(":")
    maximum = parser.integer()
    parser.expect(">")
    return minimum, maximum


def _type_error(
    storage: Type, quantile: Type, values: list[float], limits: tuple[int, int] | None
) -> str | None:
    if not isinstance(storage, IntegerType | FloatType):
        return "storage type must be an integer or float type"
    if not isinstance(quantile, FloatType):
        return "quantile type must be a float type"
    if not values:
        return "quantile values must not be empty"
    if not all(map(isfinite, values)):
        return "quantile values must be finite (no NaN or infinity)"
    if limits is not None and limits[0] >= limits[1]:
        return "storage min must be less than storage max"
    count = 1 << storage.width if limits is None else limits[1] - limits[0] + 1
    if len(values) != count:
        return (
            f"quantile LUT size ({len(values)}) must equal the number of representable storage values "
            f"({count})"
        )
    return None


@quant.printer(QuantileType)
def _print(type: QuantileType, attribute_printer: AttributePrinter) -> str:
    values = ",".join(float_text(bits, F64.format) for bits in type.values)
    limits = f", <{type.limits[0]}:{type.limits[1]}>" if type.limits is not None else ""
    return (
        f"quantile<{attribute_printer.type(type.storage)}:{attribute_printer.type(type.quantile)},"
        f" {{{values}}}{limits}>"
    )


DIALECT = quant
