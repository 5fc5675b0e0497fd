"""The vhlo dialect object, versions of StableHLO, and the types of VHLO.

Types without parameters are instances of `SimpleType`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from struct import pack, unpack
from typing import Any, ClassVar, Final

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.types import TOKEN_TYPE, print_dimension_size
from sdyopt.mlir.ir.attribute import Attribute, Type
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.floats import FLOAT_FORMATS, float_text
from sdyopt.mlir.ir.types import (
    BF16,
    DYNAMIC,
    F16,
    F32,
    F64,
    I1,
    INDEX,
    NONE,
    FloatType,
    IntegerType,
    RankedShapedType,
    Signedness,
)

vhlo = Dialect("vhlo")
vhlo.unknown_attribute = ErrorKind("unknown vhlo attribute")
vhlo.unknown_type = ErrorKind("unknown vhlo type: {mnemonic}")

# Major, minor and patch number.
Version = tuple[int, int, int]

MINIMUM: Final = (0, 9, 0)
CURRENT: Final = (1, 22, 0)

# The version of MLIR's bytecode format by the first version of StableHLO that writes it.
_BYTECODE_VERSIONS = {(0, 9, 0): 0, (0, 10, 0): 1, (0, 12, 0): 3, (0, 14, 0): 4, (0, 15, 0): 6}

_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")


def version_of(text: str) -> Version | None:
    """The version of a text such as `1.9.0`; None if it is none."""
    match = _VERSION.fullmatch(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def version_text(version: Version) -> str:
    """The text of a version, such as `1.9.0`."""
    return ".".join(map(str, version))


def bytecode_version(version: Version) -> int:
    """The version of the bytecode format of artifacts of a version of StableHLO."""
    return next(number for first, number in reversed(_BYTECODE_VERSIONS.items()) if first <= version)


_DOUBLE = FLOAT_FORMATS["f64"]
_SIZE = re.compile(r"(\?|[0-9]{1,18})x")


class SimpleType(Type):
    """`!vhlo.f32_v1`: a type without parameters; `name` is the mnemonic."""

    name: str
    dialect = "vhlo"


class SimpleTypeInfo(NamedTuple):
    """The facts of a simple type: the type that it stands for, its bytecode, and the first version."""

    type: Type | None
    code: int
    since: Version


def _unsigned(width: int) -> IntegerType:
    return IntegerType(width, Signedness.UNSIGNED)


# By mnemonic. There is no type for a witness in the dialects of this package.
SIMPLE_TYPES = {
    "bool_v1": SimpleTypeInfo(I1, 0, MINIMUM),
    "bf16_v1": SimpleTypeInfo(BF16, 2, MINIMUM),
    "f16_v1": SimpleTypeInfo(F16, 3, MINIMUM),
    "f32_v1": SimpleTypeInfo(F32, 4, MINIMUM),
    "f64_v1": SimpleTypeInfo(F64, 5, MINIMUM),
    "f8E4M3FN_v1": SimpleTypeInfo(FloatType("f8E4M3FN"), 6, MINIMUM),
    "f8E5M2_v1": SimpleTypeInfo(FloatType("f8E5M2"), 7, MINIMUM),
    "index_v1": SimpleTypeInfo(INDEX, 9, MINIMUM),
    "i4_v1": SimpleTypeInfo(IntegerType(4), 10, MINIMUM),
    "i8_v1": SimpleTypeInfo(IntegerType(8), 11, MINIMUM),
    "i16_v1": SimpleTypeInfo(IntegerType(16), 12, MINIMUM),
    "i32_v1": SimpleTypeInfo(IntegerType(32), 13, MINIMUM),
    "i64_v1": SimpleTypeInfo(IntegerType(64), 14, MINIMUM),
    "ui4_v1": SimpleTypeInfo(_unsigned(4), 15, MINIMUM),
    "ui8_v1": SimpleTypeInfo(_unsigned(8), 16, MINIMUM),
    "ui16_v1": SimpleTypeInfo(_unsigned(16), 17, MINIMUM),
    "ui32_v1": SimpleTypeInfo(_unsigned(32), 18, MINIMUM),
    "ui64_v1": SimpleTypeInfo(_unsigned(64), 19, MINIMUM),
    "token_v1": SimpleTypeInfo(TOKEN_TYPE, 22, MINIMUM),
    "witness_v1": SimpleTypeInfo(None, 26, MINIMUM),
    "f8E4M3FNUZ_v1": SimpleTypeInfo(FloatType("f8E4M3FNUZ"), 27, (0, 10, 0)),
    "f8E5M2FNUZ_v1": SimpleTypeInfo(FloatType("f8E5M2FNUZ"), 28, (0, 10, 0)),
    "f8E4M3B11FNUZ_v1": SimpleTypeInfo(FloatType("f8E4M3B11FNUZ"), 29, (0, 11, 0)),
    "i2_v1": SimpleTypeInfo(IntegerType(2), 31, (1, 2, 0)),
    "ui2_v1": SimpleTypeInfo(_unsigned(2), 32, (1, 2, 0)),
    "none_v1": SimpleTypeInfo(NONE, 33, (1, 6, 0)),
    "tf31_v1": SimpleTypeInfo(FloatType("tf32"), 34, (1, 6, 0)),
    "f8E4M3_v1": SimpleTypeInfo(FloatType("f8E4M3"), 35, (1, 7, 0)),
    "f8E3M4_v1": SimpleTypeInfo(FloatType("f8E3M4"), 36, (1, 7, 0)),
    "f4E2M1FN_v1": SimpleTypeInfo(FloatType("f4E2M1FN"), 37, (1, 8, 0)),
    "f6E2M3FN_v1": SimpleTypeInfo(FloatType("f6E2M3FN"), 38, (1, 8, 0)),
    "f6E3M2FN_v1": SimpleTypeInfo(FloatType("f6E3M2FN"), 39, (1, 8, 0)),
    "f8E8M0FNU_v1": SimpleTypeInfo(FloatType("f8E8M0FNU"), 40, (1, 8, 0)),
}


class VhloType(Type):
    """Base of the types with parameters."""

    __slots__ = ()

    dialect = "vhlo"
    since: ClassVar[Version] = MINIMUM


class ComplexV1(VhloType):
    """`!vhlo.complex_v1<!vhlo.f32_v1>`."""

    element: Type


class FunctionV1(VhloType):
    """`!vhlo.func_v1<(inputs) -> outputs>`."""

    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]

    @staticmethod
    def parse(parser: AsmParser) -> FunctionV1:
        parser.expect("(")
        inputs = _type_array(parser)
        parser.expect(")")
        parser.expect("->")
        return FunctionV1(inputs, _type_array(parser))


class TensorType(RankedShapedType):
    """`!vhlo.tensor_v1<4x?x!vhlo.f32_v1, encoding>`."""

    shape: tuple[int, ...]
    element: Type
    encoding: Attribute | None = None
    dialect = "vhlo"
    since: ClassVar[Version] = MINIMUM

    @staticmethod
    def parse(parser: AsmParser) -> TensorType:
        shape, element = _shape(parser), parser.type()
        return TensorType(shape, element, parser.attribute() if parser.accept(",") else None)

    def tensor_text(self, printer: AttributePrinter) -> str:
        encoding = "" if self.encoding is None else f", {printer.attribute(self.encoding)}"
        return f"{_shape_text(self.shape)}{printer.type(self.element)}{encoding}"


class UnrankedTensorV1(VhloType):
    """`!vhlo.unranked_tensor_v1<!vhlo.f32_v1>`."""

    element: Type


class TupleV1(VhloType):
    """`!vhlo.tuple_v1<…>`."""

    types: tuple[Type, ...]


class FutureV1(VhloType):
    """`!vhlo.future_v1<…>`."""

    types: tuple[Type, ...]
    since = (1, 15, 0)


class BufferV1(VhloType):
    """`!vhlo.buffer_v1<4x!vhlo.f32_v1>`."""

    shape: tuple[int, ...]
    element: Type
    since = (1, 13, 0)


class QuantizedV1(VhloType):
    """`!vhlo.quant_v1<…>`: a uniform quantized type; `scale` is an `f64` bit pattern."""

    flags: int
    storage: Type
    expressed: Type
    scale: int
    zero_point: int
    minimum: int
    maximum: int

    @staticmethod
    def parse(parser: AsmParser) -> QuantizedV1:
        storage, expressed = _storage(parser)
        scale = parse_double(parser)
        parser.expect(":")
        zero_point = parser.integer()
        minimum, maximum, flags = _limits(parser)
        return QuantizedV1(flags, storage, expressed, scale, zero_point, minimum, maximum)

    def quantized_text(self, printer: AttributePrinter) -> str:
        return (
            f"{printer.type(self.storage)}:{printer.type(self.expressed)}, {double_text(self.scale)}:"
            f"{self.zero_point}, {self.minimum}:{self.maximum}, {self.flags}"
        )


class QuantizedPerAxisV1(VhloType):
    """`!vhlo.quant_per_axis_v1<…>`: a scale and a zero point per index along `axis`."""

    flags: int
    storage: Type
    expressed: Type
    axis: int
    scales: tuple[int, ...]
    zero_points: tuple[int, ...]
    minimum: int
    maximum: int
    since = (0, 18, 0)

    @staticmethod
    def parse(parser: AsmParser) -> QuantizedPerAxisV1:
        storage, expressed = _storage(parser)
        axis = parser.integer()
        parser.expect(",")
        scales = parser.comma_list(lambda: parse_double(parser), "[", "]")
        parser.expect(",")
        zero_points = parser.comma_list(parser.integer, "[", "]")
        minimum, maximum, flags = _limits(parser)
        return QuantizedPerAxisV1(
            flags, storage, expressed, axis, tuple(scales), tuple(zero_points), minimum, maximum
        )

    def quantized_per_axis_text(self, printer: AttributePrinter) -> str:
        scales = ", ".join(map(double_text, self.scales))
        zero_points = ", ".join(map(str, self.zero_points))
        return (
            f"{printer.type(self.storage)}:{printer.type(self.expressed)}, {self.axis}, [{scales}], "
            f"[{zero_points}], {self.minimum}:{self.maximum}, {self.flags}"
        )


# --- Text -----------------------------------------------------------------------------------------


def _shape(parser: AsmParser) -> tuple[int, ...]:
    """Parses `4x?x`, possibly nothing, before an element type."""
    shape = []
    while (match := _SIZE.match(parser.text, parser.skip_trivia())) is not None:
        shape.append(DYNAMIC if match[1] == "?" else int(match[1]))
        parser.position = match.end()
    return tuple(shape)


def _shape_text(shape: tuple[int, ...]) -> str:
    return "".join(f"{print_dimension_size(size)}x" for size in shape)


def parse_double(parser: AsmParser) -> int:
    """Parses a number, and returns its bits as an `f64`."""
    return int(unpack("<Q", pack("<d", parser.floating()))[0])


def double_text(bits: int) -> str:
    """The text of the number with these bits as an `f64`."""
    return float_text(bits, _DOUBLE)


def _types(parser: AsmParser, close: str) -> tuple[Type, ...]:
    if parser.looking_at(close):
        return ()
    return tuple(parser.comma_list(parser.type))


Parse = Callable[[AsmParser], Any]


def in_brackets(parse: Parse) -> Parse:
    """The parser of `<…>`."""

    def parse_bracketed(parser: AsmParser) -> Any:
        parser.expect("<")
        parsed = parse(parser)
        parser.expect(">")
        return parsed

    return parse_bracketed


def _type_array(parser: AsmParser) -> tuple[Type, ...]:
    if parser.accept("("):
        parser.expect(")")
        return ()
    return tuple(parser.comma_list(parser.type))


def _array_text(types: tuple[Type, ...], printer: AttributePrinter) -> str:
    return ", ".join(map(printer.type, types)) or "()"


def _storage(parser: AsmParser) -> tuple[Type, Type]:
    storage = parser.type()
    parser.expect(":")
    expressed = parser.type()
    parser.expect(",")
    return storage, expressed


def _limits(parser: AsmParser) -> tuple[int, int, int]:
    parser.expect(",")
    minimum = parser.integer()
    parser.expect(":")
    maximum = parser.integer()
    parser.expect(",")
    return minimum, maximum, parser.integer()


def _register(
    mnemonic: str, cls: type[Type], parse: Parse, text: Callable[[Any, AttributePrinter], str]
) -> None:
    vhlo.type(mnemonic)(in_brackets(parse))
    vhlo.printer(cls)(lambda type, printer: f"{mnemonic}<{text(type, printer)}>")


def _register_simple(mnemonic: str) -> None:
    vhlo.type(mnemonic)(lambda parser: SimpleType(mnemonic))


for _mnemonic in SIMPLE_TYPES:
    _register_simple(_mnemonic)
vhlo.printer(SimpleType)(lambda type, printer: type.name)
_register(
    "complex_v1",
    ComplexV1,
    lambda parser: ComplexV1(parser.type()),
    lambda type, printer: printer.type(type.element),
)
_register(
    "func_v1",
    FunctionV1,
    FunctionV1.parse,
    lambda type, printer: f"({_array_text(type.inputs, printer)}) -> {_array_text(type.outputs, printer)}",
)
_register("tensor_v1", TensorType, TensorType.parse, TensorType.tensor_text)
_register(
    "unranked_tensor_v1",
    UnrankedTensorV1,
    lambda parser: UnrankedTensorV1(parser.type()),
    lambda type, printer: printer.type(type.element),
)
_register(
    "tuple_v1",
    TupleV1,
    lambda parser: TupleV1(_types(parser, ">")),
    lambda type, printer: ", ".join(map(printer.type, type.types)),
)
_register(
    "future_v1",
    FutureV1,
    lambda parser: FutureV1(_types(parser, ">")),
    lambda type, printer: ", ".join(map(printer.type, type.types)),
)
_register(
    "buffer_v1",
    BufferV1,
    lambda parser: BufferV1(_shape(parser), parser.type()),
    lambda type, printer: f"{_shape_text(type.shape)}{printer.type(type.element)}",
)
_register("quant_v1", QuantizedV1, QuantizedV1.parse, QuantizedV1.quantized_text)
_register(
    "quant_per_axis_v1",
    QuantizedPerAxisV1,
    QuantizedPerAxisV1.parse,
    QuantizedPerAxisV1.quantized_per_axis_text,
)
