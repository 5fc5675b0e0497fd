"""The encodings of VHLO attributes and types."""

from __future__ import annotations

from typing import Any

from sdyopt.mlir.bytecode.builtin_encodings import DOUBLE, read_bits, write_bits
from sdyopt.mlir.bytecode.dense_elements import dense_elements, dense_elements_data
from sdyopt.mlir.bytecode.encodings import (
    ATTRIBUTE,
    BLOB,
    OPTIONAL_ATTRIBUTE,
    SIGNED,
    SIGNED_LIST,
    STRING,
    TYPE,
    VARINT,
    WIDE_BOOL,
    Codec,
    DialectEncodings,
    EntryReader,
    EntryWriter,
    listed,
    optional,
    paired,
)
from sdyopt.mlir.dialects.vhlo import attributes as v
from sdyopt.mlir.dialects.vhlo.conversion import NotConvertible, from_vhlo_type
from sdyopt.mlir.dialects.vhlo.types import (
    SIMPLE_TYPES,
    BufferV1,
    ComplexV1,
    FunctionV1,
    FutureV1,
    QuantizedPerAxisV1,
    QuantizedV1,
    SimpleType,
    TensorType,
    TupleV1,
    UnrankedTensorV1,
)
from sdyopt.mlir.ir.attribute import Type
from sdyopt.mlir.ir.builtin_attributes import integer_width, wrapped
from sdyopt.mlir.ir.types import I1, FloatType, IndexType, IntegerType

vhlo = DialectEncodings("vhlo")

# --- Attributes -----------------------------------------------------------------------------------


def _read_float(reader: EntryReader) -> v.FloatV1:
    start = reader.position
    type = reader.type()
    builtin = v.builtin_of(type)
    if not isinstance(builtin, FloatType):
        reader.fail("the type of a float attribute is no float", start)
    return v.FloatV1(type, read_bits(reader, builtin.width))


def _write_float(writer: EntryWriter, attribute: v.FloatV1) -> None:
    builtin = v.builtin_of(attribute.type)
    assert isinstance(builtin, FloatType)
    writer.type(attribute.type)
    write_bits(writer, attribute.bits, builtin.width)


def _read_integer(reader: EntryReader) -> v.IntegerV1:
    start = reader.position
    type = reader.type()
    builtin = v.builtin_of(type)
    if not isinstance(builtin, IntegerType | IndexType):
        reader.fail("the type of an integer attribute is neither integer nor index", start)
    return v.IntegerV1(type, wrapped(read_bits(reader, integer_width(builtin)), builtin))


def _write_integer(writer: EntryWriter, attribute: v.IntegerV1) -> None:
    builtin = v.builtin_of(attribute.type)
    assert isinstance(builtin, IntegerType | IndexType)
    writer.type(attribute.type)
    write_bits(writer, attribute.value, integer_width(builtin))


def _tensor(type: Type, data: bytes) -> v.TensorV1 | str:
    try:
        elements = dense_elements(from_vhlo_type(type), data)
    except NotConvertible:
        return "the type of elements has no counterpart"
    return elements if isinstance(elements, str) else v.TensorV1(type, elements)


def _tensor_parts(attribute: v.TensorV1) -> tuple[Type, bytes]:
    data = attribute.data
    if data.type.element is I1 and data.type.num_elements == 1:
        # Unlike in builtin elements, a single boolean is one bit.
        return attribute.type, data.data
    return attribute.type, dense_elements_data(data)


vhlo.attribute(1, v.ArrayV1, listed(ATTRIBUTE))
vhlo.attribute(2, v.BoolV1, WIDE_BOOL)
vhlo.enum(3, v.ComparisonDirectionV1)
vhlo.enum(4, v.ComparisonTypeV1)
vhlo.enum(5, v.CustomCallApiVersionV1)
vhlo.attribute(6, v.DictV1, listed(paired(ATTRIBUTE, ATTRIBUTE)))
vhlo.enum(7, v.FftTypeV1)
vhlo.add(8, v.FloatV1, Codec(_read_float, _write_float))
vhlo.add(9, v.IntegerV1, Codec(_read_integer, _write_integer))
vhlo.attribute(10, v.OutputOperandAliasV1, SIGNED_LIST, SIGNED, SIGNED_LIST)
vhlo.enum(11, v.PrecisionV1)
vhlo.enum(12, v.RngAlgorithmV1)
vhlo.enum(13, v.RngDistributionV1, first=1)
vhlo.attribute(14, v.StringV1, STRING)
vhlo.attribute(
    15,
    v.TensorV1,
    TYPE,
    BLOB,
    make=_tensor,
    take=_tensor_parts,
)
vhlo.enum(16, v.TransposeV1)
vhlo.attribute(17, v.TypeV1, TYPE)
vhlo.attribute(18, v.TypeExtensionsV1, SIGNED_LIST)
vhlo.enum(19, v.ResultAccuracyModeV1)
vhlo.attribute(20, v.ResultAccuracyV1, DOUBLE, DOUBLE, SIGNED, ATTRIBUTE)
vhlo.attribute(21, v.SubAxisInfoV1, SIGNED, SIGNED)
vhlo.attribute(22, v.AxisRefV1, ATTRIBUTE, optional(WIDE_BOOL, ATTRIBUTE))
vhlo.attribute(23, v.ReplicaGroupMeshAxesV1, ATTRIBUTE, ATTRIBUTE)
vhlo.attribute(24, v.MeshAxisV1, ATTRIBUTE, SIGNED)
vhlo.attribute(25, v.MeshV1, ATTRIBUTE, OPTIONAL_ATTRIBUTE)

# --- Types ----------------------------------------------------------------------------------------


def _add_simple(name: str, code: int) -> None:
    vhlo.type(
        code,
        SimpleType,
        make=lambda: SimpleType(name),
        take=lambda type: (),
        applies=lambda type: type.name == name,
    )


def _per_axis(
    flags: int,
    storage: Type,
    expressed: Type,
    axis: int,
    minimum: int,
    maximum: int,
    scales: tuple[int, ...],
    zero_points: tuple[int, ...],
) -> QuantizedPerAxisV1:
    return QuantizedPerAxisV1(flags, storage, expressed, axis, scales, zero_points, minimum, maximum)


def _per_axis_parts(type: QuantizedPerAxisV1) -> tuple[Any, ...]:
    start = type.flags, type.storage, type.expressed, type.axis
    return (*start, type.minimum, type.maximum, type.scales, type.zero_points)


for _name, _info in SIMPLE_TYPES.items():
    _add_simple(_name, _info.code)
vhlo.type(1, ComplexV1, TYPE)
vhlo.type(8, FunctionV1, listed(TYPE), listed(TYPE))
vhlo.type(20, TensorType, SIGNED_LIST, TYPE, applies=lambda type: type.encoding is None)
vhlo.type(
    21,
    TensorType,
    ATTRIBUTE,
    SIGNED_LIST,
    TYPE,
    make=lambda encoding, shape, element: TensorType(shape, element, encoding),
    take=lambda type: (type.encoding, type.shape, type.element),
)
vhlo.type(23, TupleV1, listed(TYPE))
vhlo.type(24, QuantizedV1, VARINT, TYPE, TYPE, DOUBLE, SIGNED, SIGNED, SIGNED)
vhlo.type(25, UnrankedTensorV1, TYPE)
vhlo.type(
    30,
    QuantizedPerAxisV1,
    *(VARINT, TYPE, TYPE, VARINT, SIGNED, SIGNED, listed(DOUBLE), SIGNED_LIST),
    make=_per_axis,
    take=_per_axis_parts,
)
vhlo.type(41, BufferV1, SIGNED_LIST, TYPE)
vhlo.type(42, FutureV1, listed(TYPE))
