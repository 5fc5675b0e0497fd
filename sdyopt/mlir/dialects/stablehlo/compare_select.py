"""stablehlo.compare, select and clamp."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration, listing, stablehlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    BROADCASTING_ELEMENTWISE,
    COMPATIBLE_ELEMENT_TYPES,
    COMPATIBLE_OPERAND_ELEMENT_TYPES,
    INFERS_COMPATIBLE_TYPES,
    most_specific_type,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.constraints import of_class
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE, SAME_SHAPE_REQUIRED, are_compatible_shapes
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT
from sdyopt.mlir.ir.types import I1, RankedTensor, Type, tensor


@enumeration(stablehlo, "comparison_direction", "EQ", "NE", "GE", "GT", "LE", "LT")
class ComparisonDirection(EnumAttr):
    """The comparison operator, such as `LE` for "less than or equal to"."""


@enumeration(stablehlo, "comparison_type", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
class ComparisonType(EnumAttr):
    """The comparison of elements: as signed or unsigned integers, or as floats, in IEEE or total order."""


@stablehlo.op(
    "compare",
    NO_MEMORY_EFFECT,
    ELEMENTWISE,
    COMPATIBLE_OPERAND_ELEMENT_TYPES,
    SAME_SHAPE,
    INFERS_COMPATIBLE_TYPES,
)
class CompareOp(Op):
    """Compares lhs and rhs elementwise by `comparison_direction`."""

    lhs = operand(types.TENSOR)
    rhs = operand(types.TENSOR)
    out = result(types.PRED_TENSOR)
    comparison_direction = attr(of_class(ComparisonDirection, "Which comparison operation to perform."))
    compare_type = optional_attr(of_class(ComparisonType, "Which comparison type to use."))

    assembly = assembly(
        "$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        lhs = signature[CompareOp.lhs]
        return [RankedTensor(lhs.shape, I1, lhs.encoding)]


@stablehlo.op("select", NO_MEMORY_EFFECT, BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES)
class SelectOp(Op):
    """Selects each element from on_true or on_false by `pred`, which may be a scalar."""

    pred = operand(types.PRED_TENSOR)
    on_true = operand(types.TENSOR)
    on_false = operand(types.TENSOR)
    out = result(types.TENSOR)

    assembly = assembly("operands attr-dict `:` custom<SelectOpType>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        on_true, on_false = signature[SelectOp.on_true], signature[SelectOp.on_false]
        pred = signature[SelectOp.pred]
        # select_c2
        if not are_compatible_shapes([on_true, on_false]) or on_true.element is not on_false.element:
            raise signature.error_without_op_note("requires compatible types for non-predicate operands")
        if pred.rank and not are_compatible_shapes([pred, on_true]):  # select_c1
            raise signature.error_without_op_note(SAME_SHAPE_REQUIRED(values="operands"))
        return [most_specific_type(signature, [on_true, on_false])]


@stablehlo.op(
    "clamp", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES
)
class ClampOp(Op):
    """Clamps each element between min and max, which may be scalars."""

    min = op_fields.operand(types.TENSOR)
    operand = op_fields.operand(types.TENSOR)
    max = op_fields.operand(types.TENSOR)
    out = result(types.TENSOR)

    assembly = assembly("$min `,` $operand `,` $max attr-dict `:` custom<SameOperandsAndResultType>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand = signature[ClampOp.operand]
        limits = (("min", signature[ClampOp.min]), ("max", signature[ClampOp.max]))
        for name, type in limits:  # clamp_c1, clamp_c2
            if type.rank and not are_compatible_shapes([type, operand]):
                raise signature.error_without_op_note(
                    f"{name} shape [{listing(type.shape)}] is not scalar and is not compatible to operand "
                    f"shape [{listing(operand.shape)}]"
                )
        return [tensor(operand.shape, operand.element)]
