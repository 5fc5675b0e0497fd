"""stablehlo's elementwise binary operations."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    AllOperands,
    ComplexOpType,
    SameOperandsAndResultType,
)
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import quoted
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.traits import COMPATIBLE_TYPES, HLO_COMMUTATIVE, INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.type_compatibility import most_specific_type
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_fields import operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_OPERAND_ELEMENT_TYPE, SAME_SHAPE
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT
from sdyopt.mlir.ir.types import ComplexType, RankedTensor, Type

_TYPE_INFERRING_TRAITS = (INFERS_COMPATIBLE_TYPES, SAME_SHAPE, ELEMENTWISE, NO_MEMORY_EFFECT)
_COMPATIBLE_TYPE_TRAITS = (COMPATIBLE_TYPES, *_TYPE_INFERRING_TRAITS)


class BinaryOp(Op):
    """Base of binary operations whose operands and result have compatible types."""

    __slots__ = ()

    assembly = assembly(Operand("lhs"), ",", Operand("rhs"), AttrDict(), ":", SameOperandsAndResultType())

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [most_specific_type(signature, signature.operand_types)]


class AnyBinaryOp(BinaryOp):
    """Base of binary operations on any element type except per-axis quantized types."""

    __slots__ = ()

    lhs = operand(types.TENSOR)
    rhs = operand(types.TENSOR)
    out = result(types.TENSOR)


class NumberBinaryOp(BinaryOp):
    """Base of binary operations on any element type except bool and per-axis quantized types."""

    __slots__ = ()

    lhs = operand(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    rhs = operand(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


class ShiftOp(BinaryOp):
    """Base of bit shifts, on integers."""

    __slots__ = ()

    lhs = operand(types.INT_TENSOR)
    rhs = operand(types.INT_TENSOR)
    out = result(types.INT_TENSOR)


class LogicalOp(BinaryOp):
    """Base of logical operations on bools and bitwise operations on integers."""

    __slots__ = ()

    lhs = operand(types.PRED_OR_INT_TENSOR)
    rhs = operand(types.PRED_OR_INT_TENSOR)
    out = result(types.TENSOR)


@stablehlo.op("add", HLO_COMMUTATIVE, *_TYPE_INFERRING_TRAITS)
class AddOp(BinaryOp):
    """lhs + rhs; logical or for bools."""

    __slots__ = ()

    lhs = operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    rhs = operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    out = result(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        tensors = (signature[AddOp.lhs], signature[AddOp.rhs], signature[AddOp.out])
        elements = [tensor.element for tensor in tensors]
        if any(isinstance(element, QuantizedType) for element in elements):
            _check_quantized_add(signature, elements)
        elif any(element is not elements[0] for element in elements):
            raise signature.error_without_op_note(
                "op requires the same element type for all operands and results"
            )


def _check_quantized_add(signature: OpSignature, elements: Sequence[Type]) -> None:
    quantized = [element for element in elements if isinstance(element, QuantizedType)]
    if len(quantized) != len(elements):  # add_c2
        raise signature.error_without_op_note(
            "expects  all operands and results to be either quantized or non-quantized"
        )
    if any(element.storage is not quantized[0].storage for element in quantized):  # add_c3
        raise signature.error_without_op_note("mismatched operands and result quantization storage types")
    if any(element.expressed is not quantized[0].expressed for element in quantized):  # add_c4
        raise signature.error_without_op_note("mismatched operands and result quantization expressed types")
    *operands, result = elements
    is_per_axis = any(isinstance(element, UniformQuantizedPerAxis) for element in operands)
    if not isinstance(result, UniformQuantizedPerAxis):
        if is_per_axis:  # add_c5
            raise signature.error_without_op_note("result is not per_axis quantized but lhs or rhs are")
        return
    if not is_per_axis:
        raise signature.error_without_op_note(
            "result per_axis quantized but none from rhs and lhs are per_axis quantized"
        )
    for name, element in zip(("lhs", "rhs"), operands, strict=True):  # add_c6, add_c7
        if isinstance(element, UniformQuantizedPerAxis) and element.axis != result.axis:
            raise signature.error_without_op_note(
                f"quantization_dimension of {name} and result are not same {quoted(element)} vs "
                f"{quoted(result)}"
            )


@stablehlo.op("subtract", *_COMPATIBLE_TYPE_TRAITS)
class SubtractOp(NumberBinaryOp):
    """lhs - rhs."""

    __slots__ = ()


@stablehlo.op("multiply", HLO_COMMUTATIVE, *_COMPATIBLE_TYPE_TRAITS)
class MulOp(AnyBinaryOp):
    """lhs * rhs; logical and for bools."""

    __slots__ = ()


@stablehlo.op("divide", *_COMPATIBLE_TYPE_TRAITS)
class DivOp(NumberBinaryOp):
    """lhs / rhs; integer division rounds toward zero."""

    __slots__ = ()


@stablehlo.op("remainder", *_COMPATIBLE_TYPE_TRAITS)
class RemOp(NumberBinaryOp):
    """The remainder of lhs / rhs, with the sign of lhs."""

    __slots__ = ()


@stablehlo.op("power", *_COMPATIBLE_TYPE_TRAITS)
class PowOp(NumberBinaryOp):
    """lhs to the power of rhs."""

    __slots__ = ()


@stablehlo.op("maximum", HLO_COMMUTATIVE, *_COMPATIBLE_TYPE_TRAITS)
class MaxOp(AnyBinaryOp):
    """The maximum of lhs and rhs; logical or for bools."""

    __slots__ = ()


@stablehlo.op("minimum", HLO_COMMUTATIVE, *_COMPATIBLE_TYPE_TRAITS)
class MinOp(AnyBinaryOp):
    """The minimum of lhs and rhs; logical and for bools."""

    __slots__ = ()


@stablehlo.op("atan2", *_COMPATIBLE_TYPE_TRAITS)
class Atan2Op(BinaryOp):
    """The arc tangent of lhs / rhs, with the quadrant given by their signs."""

    __slots__ = ()

    lhs = operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    rhs = operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


@stablehlo.op("and", HLO_COMMUTATIVE, *_COMPATIBLE_TYPE_TRAITS)
class AndOp(LogicalOp):
    """Logical and of bools, bitwise and of integers."""

    __slots__ = ()


@stablehlo.op("or", HLO_COMMUTATIVE, *_COMPATIBLE_TYPE_TRAITS)
class OrOp(LogicalOp):
    """Logical or of bools, bitwise or of integers."""

    __slots__ = ()


@stablehlo.op("xor", HLO_COMMUTATIVE, *_COMPATIBLE_TYPE_TRAITS)
class XorOp(LogicalOp):
    """Logical exclusive or of bools, bitwise exclusive or of integers."""

    __slots__ = ()


@stablehlo.op("shift_left", *_COMPATIBLE_TYPE_TRAITS)
class ShiftLeftOp(ShiftOp):
    """lhs shifted left by rhs bits."""

    __slots__ = ()


@stablehlo.op("shift_right_arithmetic", *_COMPATIBLE_TYPE_TRAITS)
class ShiftRightArithmeticOp(ShiftOp):
    """lhs shifted right by rhs bits, filled with the sign bit."""

    __slots__ = ()


@stablehlo.op("shift_right_logical", *_COMPATIBLE_TYPE_TRAITS)
class ShiftRightLogicalOp(ShiftOp):
    """lhs shifted right by rhs bits, filled with zeros."""

    __slots__ = ()


@stablehlo.op("complex", SAME_OPERAND_ELEMENT_TYPE, *_TYPE_INFERRING_TRAITS)
class ComplexOp(Op):
    """Complex numbers from their real (lhs) and imaginary (rhs) parts."""

    __slots__ = ()

    lhs = operand(types.FLOAT_32_64_TENSOR)
    rhs = operand(types.FLOAT_32_64_TENSOR)
    out = result(types.COMPLEX_TENSOR)

    assembly = assembly(AllOperands(), AttrDict(), ":", ComplexOpType())

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        lhs = signature[ComplexOp.lhs]
        return [RankedTensor(lhs.shape, ComplexType(lhs.element), lhs.encoding)]
