"""The attributes of VHLO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sdyopt.mlir.asm.lexical import escape
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration
from sdyopt.mlir.dialects.stablehlo.types import parse_dimension_size, print_dimension_size
from sdyopt.mlir.dialects.vhlo.types import (
    MINIMUM,
    SIMPLE_TYPES,
    Parse,
    SimpleType,
    Version,
    double_text,
    in_brackets,
    parse_double,
    vhlo,
)
from sdyopt.mlir.ir.attribute import Attribute, Type
from sdyopt.mlir.ir.builtin_attributes import DenseElements, IntegerAttr, integer
from sdyopt.mlir.ir.floats import encode_double, float_text
from sdyopt.mlir.ir.types import FloatType, IndexType, IntegerType

_MESHES: Version = (1, 16, 0)


class VhloAttr(Attribute):
    """Base of the attributes that are no enums."""

    __slots__ = ()

    dialect = "vhlo"
    since: ClassVar[Version] = MINIMUM


class ArrayV1(VhloAttr):
    """`#vhlo.array_v1<[a, b]>`."""

    elements: tuple[Attribute, ...]

    @staticmethod
    def parse(parser: AsmParser) -> ArrayV1:
        return ArrayV1(tuple(parser.comma_list(parser.attribute, "[", "]")))

    def array_text(self, printer: AttributePrinter) -> str:
        return f"[{', '.join(map(printer.attribute, self.elements))}]"


class BoolV1(VhloAttr):
    """`#vhlo.bool_v1<true>`."""

    value: bool

    @staticmethod
    def parse(parser: AsmParser) -> BoolV1:
        if parser.accept("true"):
            return BoolV1(True)
        parser.expect("false")
        return BoolV1(False)


class DictV1(VhloAttr):
    """`#vhlo.dict_v1<{name = value}>`; the names are `#vhlo.string_v1`."""

    entries: tuple[tuple[Attribute, Attribute], ...]

    @staticmethod
    def parse(parser: AsmParser) -> DictV1:
        return DictV1(tuple(parser.comma_list(lambda: _entry(parser), "{", "}")))

    def dict_text(self, printer: AttributePrinter) -> str:
        entries = (f"{printer.attribute(name)} = {printer.attribute(value)}" for name, value in self.entries)
        return f"{{{', '.join(entries)}}}"


class FloatV1(VhloAttr):
    """`#vhlo.float_v1<1.0 : !vhlo.f32_v1>`: a number, stored as its bits."""

    type: Type
    bits: int

    @staticmethod
    def parse(parser: AsmParser) -> FloatV1:
        offset = parser.skip_trivia()
        value = parser.floating()
        parser.expect(":")
        type = parser.type()
        builtin = builtin_of(type)
        if not isinstance(builtin, FloatType):
            raise parser.error("expected the type of a VHLO float", offset)
        return FloatV1(type, encode_double(value, builtin.format))

    def float_text(self, printer: AttributePrinter) -> str:
        builtin = builtin_of(self.type)
        assert isinstance(builtin, FloatType)
        return f"{float_text(self.bits, builtin.format)} : {printer.type(self.type)}"


class IntegerV1(VhloAttr):
    """`#vhlo.integer_v1<1 : i32>`."""

    type: Type
    value: int

    @staticmethod
    def parse(parser: AsmParser) -> IntegerV1:
        offset = parser.skip_trivia()
        attribute = parser.attribute()
        if not isinstance(attribute, IntegerAttr) or attribute.type not in SIMPLE:
            raise parser.error("expected an integer of a type that VHLO has", offset)
        return IntegerV1(SimpleType(SIMPLE[attribute.type]), attribute.value)

    def integer_text(self, printer: AttributePrinter) -> str:
        builtin = builtin_of(self.type)
        assert isinstance(builtin, IntegerType | IndexType)
        return printer.attribute(integer(self.value, builtin))


class OutputOperandAliasV1(VhloAttr):
    """`#vhlo.output_operand_alias_v1<…>`."""

    output_tuple_indices: tuple[int, ...]
    operand_index: int
    operand_tuple_indices: tuple[int, ...]


class StringV1(VhloAttr):
    """`#vhlo.string_v1<"…">`."""

    value: str


class TensorV1(VhloAttr):
    """`#vhlo.tensor_v1<dense<…> : tensor<…>>`; `type` is that of VHLO."""

    type: Type
    data: DenseElements


class TypeV1(VhloAttr):
    """`#vhlo.type_v1<!vhlo.f32_v1>`."""

    type: Type


NO_TYPE = TypeV1(SimpleType("none_v1"))
"""Stands for the absence of an algorithm's part."""


class TypeExtensionsV1(VhloAttr):
    """`#vhlo.type_extensions_v1<bounds = [4, ?]>`."""

    bounds: tuple[int, ...]


class ResultAccuracyV1(VhloAttr):
    """`#vhlo.result_accuracy_v1<…>`; the tolerances are `f64` bit patterns."""

    atol: int
    rtol: int
    ulps: int
    mode: Attribute
    since = (1, 9, 0)


class SubAxisInfoV1(VhloAttr):
    """`#vhlo.sub_axis_info_v1<…>`."""

    pre_size: int
    size: int
    since = _MESHES


class AxisRefV1(VhloAttr):
    """`#vhlo.axis_ref_v1<…>`."""

    name: Attribute
    sub_axis_info: Attribute | None = None
    since = _MESHES


class ReplicaGroupMeshAxesV1(VhloAttr):
    """`#vhlo.replica_group_mesh_axes_v1<…>`."""

    mesh: Attribute
    axes: Attribute
    since = _MESHES


class MeshAxisV1(VhloAttr):
    """`#vhlo.mesh_axis_v1<…>`."""

    name: Attribute
    size: int
    since = _MESHES


class MeshV1(VhloAttr):
    """`#vhlo.mesh_v1<…>`."""

    axes: Attribute
    device_ids: Attribute | None = None
    since = _MESHES


# --- Enums ----------------------------------------------------------------------------------------


@enumeration(vhlo, "comparison_direction_v1", "EQ", "NE", "GE", "GT", "LE", "LT")
class ComparisonDirectionV1(EnumAttr):
    """The kind of a comparison."""


@enumeration(vhlo, "comparison_type_v1", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
class ComparisonTypeV1(EnumAttr):
    """As what a comparison compares numbers."""


@enumeration(
    vhlo,
    "api_version_v1",
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)
class CustomCallApiVersionV1(EnumAttr):
    """The calling convention of a custom call. In StableHLO it is an integer, the index of the case."""


@enumeration(vhlo, "fft_type_v1", "FFT", "IFFT", "RFFT", "IRFFT")
class FftTypeV1(EnumAttr):
    """The kind of a Fourier transform."""


@enumeration(vhlo, "precision_v1", "DEFAULT", "HIGH", "HIGHEST")
class PrecisionV1(EnumAttr):
    """The precision of an operand."""


@enumeration(vhlo, "rng_algorithm_v1", "DEFAULT", "THREE_FRY", "PHILOX")
class RngAlgorithmV1(EnumAttr):
    """The algorithm for random bits."""


@enumeration(vhlo, "rng_distribution_v1", "UNIFORM", "NORMAL")
class RngDistributionV1(EnumAttr):
    """The distribution of random numbers."""


@enumeration(vhlo, "transpose_v1", "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
class TransposeV1(EnumAttr):
    """Whether an operand is transposed."""


@enumeration(vhlo, "result_accuracy_mode_v1", "DEFAULT", "HIGHEST", "TOLERANCE")
class ResultAccuracyModeV1(EnumAttr):
    """The accuracy of a result."""


# --- Text -----------------------------------------------------------------------------------------


def _struct(
    cls: type[VhloAttr], *parameters: tuple[str, Parse, Callable[[Any, AttributePrinter], str]]
) -> tuple[Parse, Callable[[Any, AttributePrinter], str]]:
    """Parser and printer of `name = value, …`; parameters that are None are left out."""

    def parse(parser: AsmParser) -> VhloAttr:
        values = []
        for index, (name, parse_value, _) in enumerate(parameters):
            if index and not parser.accept(","):
                values += [None] * (len(parameters) - index)
                break
            parser.expect(name)
            parser.expect("=")
            values.append(parse_value(parser))
        return cls(*values)

    def text(attribute: VhloAttr, printer: AttributePrinter) -> str:
        pairs = (
            (name, value_text(getattr(attribute, field), printer))
            for (name, _, value_text), field in zip(parameters, cls._names, strict=True)
            if getattr(attribute, field) is not None
        )
        return ", ".join(f"{name} = {value}" for name, value in pairs)

    return parse, text


def _sizes(parser: AsmParser) -> tuple[int, ...]:
    return tuple(parser.comma_list(lambda: parse_dimension_size(parser), "[", "]"))


def _entry(parser: AsmParser) -> tuple[Attribute, Attribute]:
    name = parser.attribute()
    parser.expect("=")
    return name, parser.attribute()


def builtin_of(type: Type) -> Type | None:
    """The builtin type that a simple type stands for; None for other types."""
    return SIMPLE_TYPES[type.name].type if isinstance(type, SimpleType) else None


# The mnemonics of simple types, by the types that they stand for.
SIMPLE = {info.type: name for name, info in SIMPLE_TYPES.items() if info.type is not None}


def register_attribute(
    mnemonic: str, cls: type[VhloAttr], parse: Parse, text: Callable[[Any, AttributePrinter], str]
) -> None:
    vhlo.attribute(mnemonic)(in_brackets(parse))
    vhlo.printer(cls)(lambda attribute, printer: f"{mnemonic}<{text(attribute, printer)}>")


_NUMBER = AsmParser.integer, lambda value, printer: str(value)
_ATTRIBUTE = AsmParser.attribute, lambda value, printer: printer.attribute(value)
_SIZES = _sizes, lambda sizes, printer: f"[{', '.join(map(print_dimension_size, sizes))}]"
_DOUBLE = parse_double, lambda bits, printer: double_text(bits)

register_attribute("array_v1", ArrayV1, ArrayV1.parse, ArrayV1.array_text)
register_attribute(
    "bool_v1", BoolV1, BoolV1.parse, lambda attribute, printer: "true" if attribute.value else "false"
)
register_attribute("dict_v1", DictV1, DictV1.parse, DictV1.dict_text)
register_attribute("float_v1", FloatV1, FloatV1.parse, FloatV1.float_text)
register_attribute("integer_v1", IntegerV1, IntegerV1.parse, IntegerV1.integer_text)
register_attribute(
    "output_operand_alias_v1",
    OutputOperandAliasV1,
    *_struct(
        OutputOperandAliasV1,
        ("outputTupleIndices", *_SIZES),
        ("operandIndex", *_NUMBER),
        ("operandTupleIndices", *_SIZES),
    ),
)
register_attribute(
    "string_v1",
    StringV1,
    lambda parser: StringV1(parser.string()),
    lambda attribute, printer: f'"{escape(attribute.value)}"',
)
register_attribute(
    "type_v1",
    TypeV1,
    lambda parser: TypeV1(parser.type()),
    lambda attribute, printer: printer.type(attribute.type),
)
register_attribute("type_extensions_v1", TypeExtensionsV1, *_struct(TypeExtensionsV1, ("bounds", *_SIZES)))
register_attribute(
    "result_accuracy_v1",
    ResultAccuracyV1,
    *_struct(
        ResultAccuracyV1,
        ("atol", *_DOUBLE),
        ("rtol", *_DOUBLE),
        ("ulps", *_NUMBER),
        ("mode", *_ATTRIBUTE),
    ),
)
register_attribute(
    "sub_axis_info_v1",
    SubAxisInfoV1,
    *_struct(SubAxisInfoV1, ("pre_size", *_NUMBER), ("size", *_NUMBER)),
)
register_attribute(
    "axis_ref_v1",
    AxisRefV1,
    *_struct(AxisRefV1, ("name", *_ATTRIBUTE), ("sub_axis_info", *_ATTRIBUTE)),
)
register_attribute(
    "replica_group_mesh_axes_v1",
    ReplicaGroupMeshAxesV1,
    *_struct(ReplicaGroupMeshAxesV1, ("mesh", *_ATTRIBUTE), ("axes", *_ATTRIBUTE)),
)
register_attribute(
    "mesh_axis_v1", MeshAxisV1, *_struct(MeshAxisV1, ("name", *_ATTRIBUTE), ("size", *_NUMBER))
)
register_attribute("mesh_v1", MeshV1, *_struct(MeshV1, ("axes", *_ATTRIBUTE), ("device_ids", *_ATTRIBUTE)))
