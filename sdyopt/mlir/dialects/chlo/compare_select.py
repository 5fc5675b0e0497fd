"""Comparison and selection with implicit broadcasting."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.dialects.chlo.assembly_directives import AnyTensorTypeOf
from sdyopt.mlir.dialects.chlo.broadcast import BroadcastBinaryOp, BroadcastOp, infer_broadcast
from sdyopt.mlir.dialects.chlo.broadcast_shapes import broadcast_type
from sdyopt.mlir.dialects.chlo.dialect import chlo
from sdyopt.mlir.dialects.chlo.types import ANY_PRED_TENSOR
from sdyopt.mlir.dialects.stablehlo.assembly_directives import AllResultTypes, TensorTypeOf
from sdyopt.mlir.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.mlir.dialects.stablehlo.traits import (
    BROADCASTING_ELEMENTWISE,
    INFERS_COMPATIBLE_TYPES,
)
from sdyopt.mlir.dialects.stablehlo.types import ANY_TENSOR, PRED_TENSOR
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.constraints import I64_ARRAY, of_class
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.traits import PURE, InfersTypes
from sdyopt.mlir.ir.types import I1, Type, element_of


@enumeration(chlo, "comparison_direction", "EQ", "NE", "GE", "GT", "LE", "LT")
class ComparisonDirection(EnumAttr):
    """The comparison operator, such as `LE` for "less than or equal to"."""


@enumeration(chlo, "comparison_type", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
class ComparisonType(EnumAttr):
    """How elements are compared: as signed or unsigned integers, or as floats, in IEEE or total order."""


@chlo.op("broadcast_compare", PURE, BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES)
class BroadcastCompareOp(BroadcastBinaryOp):
    """Compares lhs and rhs elementwise by `comparison_direction`."""

    __slots__ = ()

    lhs = op_fields.operand(ANY_TENSOR)
    rhs = op_fields.operand(ANY_TENSOR)
    broadcast_dimensions = op_fields.optional_attr(I64_ARRAY)
    comparison_direction = op_fields.attr(
        of_class(ComparisonDirection, "Which comparison operation to perform.")
    )
    compare_type = op_fields.optional_attr(of_class(ComparisonType, "Which comparison type to use."))
    out = op_fields.result(ANY_PRED_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [infer_broadcast(signature, I1)]


_INFERS_SHAPES = InfersTypes(
    "infer-shapes", accepts=lambda inferred, actual: are_compatible_shapes([inferred, actual])
)


@chlo.op("broadcast_select", PURE, BROADCASTING_ELEMENTWISE, _INFERS_SHAPES)
class BroadcastSelectOp(BroadcastOp):
    """Selects each element from on_true or on_false by `pred`."""

    __slots__ = ()

    pred = op_fields.operand(PRED_TENSOR)
    on_true = op_fields.operand(ANY_TENSOR)
    on_false = op_fields.operand(ANY_TENSOR)
    out = op_fields.result(ANY_TENSOR)

    assembly = assembly(
        *(Operand("pred"), ",", Operand("on_true"), ",", Operand("on_false"), AttrDict(), ":"),
        *("(", TensorTypeOf("pred"), ",", AnyTensorTypeOf("on_true"), ",", AnyTensorTypeOf("on_false"), ")"),
        *("->", AllResultTypes()),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        element = element_of(signature[BroadcastSelectOp.on_true])
        if element is not element_of(signature[BroadcastSelectOp.on_false]):
            raise signature.error_without_op_note("mismatched operand types")
        return [broadcast_type(signature.operand_types, element)]
