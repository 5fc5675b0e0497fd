"""Conversion of attributes and types between VHLO, and builtin and StableHLO.

Attributes and types of other dialects, such as shardings, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.dialects.quant import UniformQuantized, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.compare_select import ComparisonDirection, ComparisonType
from sdyopt.mlir.dialects.stablehlo.custom_call import OutputOperandAlias
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr
from sdyopt.mlir.dialects.stablehlo.elementwise import ResultAccuracy, ResultAccuracyMode
from sdyopt.mlir.dialects.stablehlo.numerics import FftType, RngAlgorithm, RngDistribution, Transpose
from sdyopt.mlir.dialects.stablehlo.precision import Precision
from sdyopt.mlir.dialects.stablehlo.replica_groups import (
    AxisRef,
    Mesh,
    MeshAxis,
    ReplicaGroupMeshAxes,
    SubAxisInfo,
)
from sdyopt.mlir.dialects.stablehlo.types import Bounds, FutureType
from sdyopt.mlir.dialects.vhlo import attributes as v
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
from sdyopt.mlir.ir.attribute import (
    ArrayAttr,
    Attribute,
    DictAttr,
    StringAttr,
    SymbolRef,
    Type,
    TypeAttr,
    dictionary,
)
from sdyopt.mlir.ir.builtin_attributes import (
    TRUE,
    DenseArray,
    DenseElements,
    FloatAttr,
    IntegerAttr,
    boolean,
    dense,
    integer,
)
from sdyopt.mlir.ir.types import (
    I1,
    I64,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    RankedTensor,
    TupleType,
    UnrankedTensor,
    tensor,
)


class NotConvertible(Exception):
    """An attribute or type has no counterpart."""


# --- Types ----------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def to_vhlo_type(type: Type) -> Type:
    """The type of VHLO that stands for a type; raises NotConvertible if there is none."""
    simple = v.SIMPLE.get(type)
    # A tensor of booleans has the type `i1`; by itself, `i1` has no counterpart.
    if simple is not None and type is not I1:
        return SimpleType(simple)
    match type:
        case ComplexType(element):
            return ComplexV1(to_vhlo_element(element))
        case FunctionType(inputs, results):
            return FunctionV1(_all(to_vhlo_type, inputs), _all(to_vhlo_type, results))
        case RankedTensor(shape, element, encoding):
            return TensorType(shape, to_vhlo_element(element), _to_vhlo_encoding(encoding))
        case UnrankedTensor(element):
            return UnrankedTensorV1(to_vhlo_element(element))
        case TupleType(types):
            return TupleV1(_all(to_vhlo_type, types))
        case FutureType(types):
            return FutureV1(_all(to_vhlo_type, types))
        case MemRefType(shape, element):
            return BufferV1(shape, to_vhlo_element(element))
        case UniformQuantized(is_signed, storage, expressed, minimum, maximum, scale, zero_point):
            converted = to_vhlo_type(storage), to_vhlo_type(expressed)
            return QuantizedV1(int(is_signed), *converted, scale, zero_point, minimum, maximum)
        case UniformQuantizedPerAxis(is_signed, storage, expressed, minimum, maximum, axis, scales, points):
            converted = to_vhlo_type(storage), to_vhlo_type(expressed)
            return QuantizedPerAxisV1(int(is_signed), *converted, axis, scales, points, minimum, maximum)
    if type.dialect in ("builtin", "stablehlo"):
        if type is I1:
            return SimpleType("bool_v1")
        raise NotConvertible
    return type


def to_vhlo_element(type: Type) -> Type:
    """The counterpart of the type of elements."""
    return SimpleType("bool_v1") if type is I1 else to_vhlo_type(type)


def _all(convert: Callable[[Type], Type], types: tuple[Type, ...]) -> tuple[Type, ...]:
    return tuple([convert(type) for type in types])


def _to_vhlo_encoding(encoding: Attribute | None) -> Attribute | None:
    if isinstance(encoding, Bounds):
        return v.TypeExtensionsV1(encoding.bounds)
    if encoding is None or encoding.dialect == "vhlo":
        return encoding
    raise NotConvertible


@lru_cache(maxsize=4096)
def from_vhlo_type(type: Type) -> Type:
    """The type that a type of VHLO stands for; raises NotConvertible if there is none."""
    match type:
        case SimpleType(name):
            simple = SIMPLE_TYPES[name].type
            if simple is None:
                raise NotConvertible
            return simple
        case ComplexV1(element):
            return ComplexType(from_vhlo_type(element))
        case FunctionV1(inputs, outputs):
            return FunctionType(_all(from_vhlo_type, inputs), _all(from_vhlo_type, outputs))
        case TensorType(shape, element, encoding):
            if isinstance(encoding, v.TypeExtensionsV1):
                encoding = Bounds(encoding.bounds)
            return RankedTensor(shape, from_vhlo_type(element), encoding)
        case UnrankedTensorV1(element):
            return UnrankedTensor(from_vhlo_type(element))
        case TupleV1(types):
            return TupleType(_all(from_vhlo_type, types))
        case FutureV1(types):
            return FutureType(_all(from_vhlo_type, types))
        case BufferV1(shape, element):
            return MemRefType(shape, from_vhlo_type(element))
        case QuantizedV1(flags, storage, expressed, scale, zero_point, minimum, maximum):
            return UniformQuantized(
                bool(flags & 1), *_quantized(storage, expressed), minimum, maximum, scale, zero_point
            )
        case QuantizedPerAxisV1(flags, storage, expressed, axis, scales, points, minimum, maximum):
            return UniformQuantizedPerAxis(
                bool(flags & 1), *_quantized(storage, expressed), minimum, maximum, axis, scales, points
            )
    return type


def _quantized(storage: Type, expressed: Type) -> tuple[Type, FloatType]:
    converted = from_vhlo_type(expressed)
    if not isinstance(converted, FloatType):
        raise NotConvertible
    return from_vhlo_type(storage), converted


# --- Attributes -----------------------------------------------------------------------------------

_ENUMS: dict[type[EnumAttr], type[EnumAttr]] = {
    ComparisonDirection: v.ComparisonDirectionV1,
    ComparisonType: v.ComparisonTypeV1,
    FftType: v.FftTypeV1,
    Precision: v.PrecisionV1,
    RngAlgorithm: v.RngAlgorithmV1,
    RngDistribution: v.RngDistributionV1,
    Transpose: v.TransposeV1,
    ResultAccuracyMode: v.ResultAccuracyModeV1,
}
_FROM_ENUMS = {vhlo: stablehlo for stablehlo, vhlo in _ENUMS.items()}


def to_vhlo(attribute: Attribute) -> Attribute:
    """The attribute of VHLO that stands for an attribute; raises NotConvertible if there is none."""
    convert = _TO_VHLO.get(type(attribute))
    if convert is not None:
        converted: Attribute = convert(attribute)
        return converted
    if attribute.dialect in ("builtin", "stablehlo", "vhlo"):
        raise NotConvertible
    return attribute


def from_vhlo(attribute: Attribute) -> Attribute:
    """The attribute that one of VHLO stands for; raises NotConvertible if there is none."""
    convert = _FROM_VHLO.get(type(attribute))
    if convert is not None:
        converted: Attribute = convert(attribute)
        return converted
    if attribute.dialect == "vhlo":
        raise NotConvertible
    return attribute


def _to_optional(attribute: Attribute | None) -> Attribute | None:
    return None if attribute is None else to_vhlo(attribute)


def _from_optional(attribute: Attribute | None) -> Attribute | None:
    return None if attribute is None else from_vhlo(attribute)


def _to_tensor(elements: DenseElements) -> v.TensorV1:
    return v.TensorV1(to_vhlo_type(elements.type), elements)


def _to_tensor_of_array(array: DenseArray) -> v.TensorV1:
    if array.element not in (I64, I1):
        raise NotConvertible
    return _to_tensor(i64_elements(array.values) if array.element is I64 else i1_elements(array.values))


def i64_elements(values: tuple[int, ...] | list[int], shape: tuple[int, ...] | None = None) -> DenseElements:
    """The dense elements of these integers, by default of rank 1."""
    data = b"".join([value.to_bytes(8, "little", signed=True) for value in values])
    return _elements(tensor((len(values),) if shape is None else shape, I64), data)


def i1_elements(values: tuple[int, ...] | list[int]) -> DenseElements:
    """The dense elements of these booleans."""
    return _elements(tensor((len(values),), I1), bytes(values))


def _elements(type: RankedTensor, data: bytes) -> DenseElements:
    return dense(type, data) if data else DenseElements(type, b"")


def _to_dict(attributes: DictAttr) -> v.DictV1:
    return v.DictV1(tuple([(v.StringV1(name), to_vhlo(value)) for name, value in attributes.entries]))


def _to_number(attribute: IntegerAttr) -> Attribute:
    if attribute.type is I1:
        return v.BoolV1(attribute is TRUE)
    return v.IntegerV1(to_vhlo_type(attribute.type), attribute.value)


def _to_string(attribute: StringAttr) -> v.StringV1:
    if attribute.type is not None:
        raise NotConvertible
    return v.StringV1(attribute.value)


def _to_symbol(reference: SymbolRef) -> v.StringV1:
    if reference.nested:
        raise NotConvertible
    return v.StringV1(reference.root)


def _to_mesh(mesh: Mesh) -> v.MeshV1:
    return v.MeshV1(v.ArrayV1(tuple(map(to_vhlo, mesh.axes))), _to_optional(mesh.device_ids))


_TO_VHLO: dict[type[Attribute], Callable[[Any], Attribute]] = {
    **dict.fromkeys(_ENUMS, lambda attribute: _ENUMS[type(attribute)](attribute.value)),
    ArrayAttr: lambda array: v.ArrayV1(tuple([to_vhlo(element) for element in array.elements])),
    DenseElements: _to_tensor,
    DenseArray: _to_tensor_of_array,
    DictAttr: _to_dict,
    FloatAttr: lambda number: v.FloatV1(to_vhlo_type(number.type), number.bits),
    IntegerAttr: _to_number,
    StringAttr: _to_string,
    SymbolRef: _to_symbol,
    TypeAttr: lambda attribute: v.TypeV1(to_vhlo_type(attribute.type)),
    OutputOperandAlias: lambda alias: v.OutputOperandAliasV1(
        alias.output_tuple_indices, alias.operand_index, alias.operand_tuple_indices
    ),
    ResultAccuracy: lambda accuracy: v.ResultAccuracyV1(
        accuracy.atol, accuracy.rtol, accuracy.ulps, to_vhlo(accuracy.mode)
    ),
    SubAxisInfo: lambda info: v.SubAxisInfoV1(info.pre_size, info.size),
    AxisRef: lambda axis: v.AxisRefV1(v.StringV1(axis.name), _to_optional(axis.sub_axis_info)),
    MeshAxis: lambda axis: v.MeshAxisV1(v.StringV1(axis.name), axis.size),
    Mesh: _to_mesh,
    ReplicaGroupMeshAxes: lambda groups: v.ReplicaGroupMeshAxesV1(to_vhlo(groups.mesh), to_vhlo(groups.axes)),
}


def string_of(attribute: Attribute) -> str:
    """The value of a string of VHLO; raises NotConvertible for another attribute."""
    if not isinstance(attribute, v.StringV1):
        raise NotConvertible
    return attribute.value


def _from_dict(attributes: v.DictV1) -> DictAttr:
    entries = {string_of(name): from_vhlo(value) for name, value in attributes.entries}
    if len(entries) != len(attributes.entries):
        raise NotConvertible
    return dictionary(entries)


def _from_integer(attribute: v.IntegerV1) -> IntegerAttr:
    type = v.builtin_of(attribute.type)
    if not isinstance(type, IntegerType | IndexType):
        raise NotConvertible
    return integer(attribute.value, type)


def _from_float(attribute: v.FloatV1) -> FloatAttr:
    type = v.builtin_of(attribute.type)
    if not isinstance(type, FloatType):
        raise NotConvertible
    return FloatAttr(attribute.bits, type)


def _from_accuracy(accuracy: v.ResultAccuracyV1) -> ResultAccuracy:
    mode = from_vhlo(accuracy.mode)
    if not isinstance(mode, ResultAccuracyMode):
        raise NotConvertible
    return ResultAccuracy(accuracy.atol, accuracy.rtol, accuracy.ulps, mode)


def _from_axis_ref(axis: v.AxisRefV1) -> AxisRef:
    info = _from_optional(axis.sub_axis_info)
    if info is not None and not isinstance(info, SubAxisInfo):
        raise NotConvertible
    return AxisRef(string_of(axis.name), info)


def _from_mesh(mesh: v.MeshV1) -> Mesh:
    axes, ids = from_vhlo(mesh.axes), _from_optional(mesh.device_ids)
    if not isinstance(axes, ArrayAttr) or not isinstance(ids, DenseElements | None):
        raise NotConvertible
    mesh_axes = tuple([axis for axis in axes if isinstance(axis, MeshAxis)])
    if len(mesh_axes) != len(axes):
        raise NotConvertible
    return Mesh(mesh_axes, ids)


def _from_mesh_axes(groups: v.ReplicaGroupMeshAxesV1) -> ReplicaGroupMeshAxes:
    mesh = SymbolRef(groups.mesh.value) if isinstance(groups.mesh, v.StringV1) else from_vhlo(groups.mesh)
    axes = from_vhlo(groups.axes)
    if not isinstance(mesh, Mesh | SymbolRef) or not isinstance(axes, ArrayAttr):
        raise NotConvertible
    return ReplicaGroupMeshAxes(mesh, axes)


_FROM_VHLO: dict[type[Attribute], Callable[[Any], Attribute]] = {
    **dict.fromkeys(_FROM_ENUMS, lambda attribute: _FROM_ENUMS[type(attribute)](attribute.value)),
    v.CustomCallApiVersionV1: lambda version: integer(
        v.CustomCallApiVersionV1.cases.index(version.value), IntegerType(32)
    ),
    v.ArrayV1: lambda array: ArrayAttr(tuple([from_vhlo(element) for element in array.elements])),
    v.BoolV1: lambda attribute: boolean(attribute.value),
    v.DictV1: _from_dict,
    v.FloatV1: _from_float,
    v.IntegerV1: _from_integer,
    v.OutputOperandAliasV1: lambda alias: OutputOperandAlias(
        alias.output_tuple_indices, alias.operand_index, alias.operand_tuple_indices
    ),
    v.StringV1: lambda attribute: StringAttr(attribute.value),
    v.TensorV1: lambda attribute: attribute.data,
    v.TypeV1: lambda attribute: TypeAttr(from_vhlo_type(attribute.type)),
    v.TypeExtensionsV1: lambda attribute: Bounds(attribute.bounds),
    v.ResultAccuracyV1: _from_accuracy,
    v.SubAxisInfoV1: lambda info: SubAxisInfo(info.pre_size, info.size),
    v.AxisRefV1: _from_axis_ref,
    v.MeshAxisV1: lambda axis: MeshAxis(string_of(axis.name), axis.size),
    v.MeshV1: _from_mesh,
    v.ReplicaGroupMeshAxesV1: _from_mesh_axes,
}


def _parse_tensor(parser: AsmParser) -> v.TensorV1:
    """Parses the elements of a `#vhlo.tensor_v1`, which have a builtin type."""
    offset = parser.skip_trivia()
    data = parser.attribute()
    try:
        if isinstance(data, DenseElements):
            return v.TensorV1(to_vhlo_type(data.type), data)
    except NotConvertible:
        pass
    raise parser.error("expected dense elements of a type that VHLO has", offset)


v.register_attribute(
    "tensor_v1", v.TensorV1, _parse_tensor, lambda attribute, printer: printer.attribute(attribute.data)
)
