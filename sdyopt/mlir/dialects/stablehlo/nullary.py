"""stablehlo.constant, iota, dynamic_iota, create_token, after_all, replica_id and partition_id."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.directives import constant_assembly
from sdyopt.mlir.dialects.quant import QuantizedType
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import INFERS_COMPATIBLE_TYPES, check_shape_operand
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_fields import attr, operand, operands, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.traits import (
    CONSTANT_LIKE,
    ELEMENTS_ATTR,
    I64_ATTR,
    NO_MEMORY_EFFECT,
    PURE,
    Elements,
    InfersTypes,
    non_negative,
)
from sdyopt.mlir.ir.types import UI32, IntegerType, RankedTensor, ShapedType, Type, tensor
from sdyopt.mlir.ir.value import LazyLocation

# --- Constants ------------------------------------------------------------------------------


def _is_type_of_constant(inferred: Type, actual: Type) -> bool:
    """Whether a constant can have type `actual` if its value has type `inferred`.

    The value of a quantized constant has the storage type as its element type.
    """
    if isinstance(actual, RankedTensor) and isinstance(actual.element, QuantizedType):
        actual = RankedTensor(actual.shape, actual.element.storage, actual.encoding)
    return isinstance(inferred, ShapedType) and inferred is actual


@stablehlo.op("constant", CONSTANT_LIKE, PURE, InfersTypes("constant-type", accepts=_is_type_of_constant))
class ConstantOp(Op):
    """A constant tensor."""

    value = attr(ELEMENTS_ATTR)
    output = result(types.STATIC_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = constant_assembly()

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [signature[ConstantOp.value].type]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, self.signature.cached(_constant_name))]


def _constant_name(signature: OpSignature) -> str:
    (type,) = signature.result_types
    return "c" if isinstance(type, ShapedType) and isinstance(type.element, IntegerType) else "cst"


def _materialize(value: Attribute, type: Type, location: LazyLocation) -> Op | None:
    if not isinstance(value, Elements):
        return None
    signature = OpSignature(ConstantOp, ConstantOp.name, DictAttr((("value", value),)), (), (type,))
    return build(signature, (), location=location)


stablehlo.materialize_constant = _materialize


# --- Iota -----------------------------------------------------------------------------------


@stablehlo.op("iota", PURE)
class IotaOp(Op):
    """A tensor whose elements are their own indices along one dimension."""

    iota_dimension = attr(non_negative(I64_ATTR))
    output = result(types.STATIC_INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)

    assembly = assembly(
        "`dim` `=` custom<Integer>($iota_dimension) attr-dict `:` custom<TensorType>($output)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        rank = signature[IotaOp.output].rank
        if rank == 0:
            raise signature.error_without_op_note("does not support scalars.")
        if signature[IotaOp.iota_dimension] >= rank:  # iota_c1
            raise signature.error_without_op_note("iota dimension cannot go beyond the output rank.")


@stablehlo.op("dynamic_iota", NO_MEMORY_EFFECT)
class DynamicIotaOp(Op):
    """iota with the result shape given by an operand."""

    output_shape = operand(types.STATIC_DIMENSION_TENSOR)
    iota_dimension = attr(non_negative(I64_ATTR))
    out = result(types.TENSOR)

    assembly = assembly(
        "$output_shape `,` `dim` `=` custom<Integer>($iota_dimension) attr-dict `:` "
        "functional-type(operands, results)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if signature[DynamicIotaOp.iota_dimension] >= signature[DynamicIotaOp.out].rank:  # dynamic_iota_c1
            raise signature.error_without_op_note("iota dimension cannot go beyond the output rank.")

    def verify_in_context(self) -> None:
        check_shape_operand(self, self.output_shape, self.out.type)  # dynamic_iota_c2


# --- Tokens and process ids -----------------------------------------------------------------


@stablehlo.op("create_token", PURE, INFERS_COMPATIBLE_TYPES)
class CreateTokenOp(Op):
    """Creates a token without dependencies."""

    output = result(types.TOKEN)

    assembly = assembly("attr-dict `:` custom<AllResultTypes>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [types.TOKEN_TYPE]


@stablehlo.op("after_all", PURE, INFERS_COMPATIBLE_TYPES)
class AfterAllOp(Op):
    """Joins tokens: the result depends on all operands."""

    inputs = operands(types.TOKEN)
    out = result(types.TOKEN)

    assembly = assembly("$inputs attr-dict `:` custom<SameOperandsAndResultType>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [types.TOKEN_TYPE]


class ProcessIdOp(Op):
    """Base of replica_id and partition_id."""

    out = result(types.UI32_TENSOR)

    assembly = assembly("attr-dict `:` custom<AllResultTypes>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [tensor((), UI32)]


@stablehlo.op("replica_id", PURE, INFERS_COMPATIBLE_TYPES)
class ReplicaIdOp(ProcessIdOp):
    """The replica id of the current process."""


@stablehlo.op("partition_id", PURE, INFERS_COMPATIBLE_TYPES)
class PartitionIdOp(ProcessIdOp):
    """The partition id of the current process."""
