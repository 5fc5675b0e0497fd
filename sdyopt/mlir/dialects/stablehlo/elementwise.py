"""Elementwise operations of stablehlo."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack, unpack

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    parse_attribute_of_class,
)
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration, quoted, stablehlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_TYPES,
    HLO_COMMUTATIVE,
    INFERS_COMPATIBLE_TYPES,
    most_specific_operand_type,
)
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.floats import float_text
from sdyopt.mlir.ir.op_fields import default_valued_optional_attr, operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import (
    ELEMENTWISE,
    SAME_ELEMENT_REQUIRED,
    SAME_OPERAND_ELEMENT_TYPE,
    SAME_SHAPE,
)
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT, of_class
from sdyopt.mlir.ir.types import F64, ComplexType, RankedTensor, Type


@enumeration(stablehlo, "result_accuracy_mode", "DEFAULT", "HIGHEST", "TOLERANCE", is_bracketed=True)
class ResultAccuracyMode(EnumAttr):
    """The mode of a result accuracy. In modes other than `TOLERANCE`, all tolerances must be zero."""


class ResultAccuracy(Attribute):
    """`#stablehlo.result_accuracy<atol = 1.0e-5, ulps = 2, mode = …>`.

    `atol` and `rtol` are `f64` bit patterns, so that interned attributes compare exactly.
    """

    atol: int
    rtol: int
    ulps: int
    mode: ResultAccuracyMode
    dialect = "stablehlo"

    def print(self, attribute_printer: AttributePrinter) -> str:
        entries = [
            f"{name} = {float_text(bits, F64.format)}"
            for name, bits in (("atol", self.atol), ("rtol", self.rtol))
            if bits
        ]
        if self.ulps:
            entries.append(f"ulps = {self.ulps}")
        entries.append(f"mode = {attribute_printer.attribute(self.mode)}")
        return f"result_accuracy<{', '.join(entries)}>"


DEFAULT_ACCURACY = ResultAccuracy(0, 0, 0, ResultAccuracyMode("DEFAULT"))
RESULT_ACCURACY = of_class(ResultAccuracy, "The requested accuracy for transcendental unary ops.")


def register_result_accuracy(
    dialect: Dialect, cls: type[ResultAccuracy], mode_class: type[ResultAccuracyMode]
) -> None:
    """Registers the parser and printer of the class of a dialect's result accuracy."""

    @dialect.attribute("result_accuracy")
    def parse(parser: AsmParser) -> Attribute:
        parser.expect("<")
        atol, rtol = _parse_tolerance(parser, "atol"), _parse_tolerance(parser, "rtol")
        ulps = 0
        if parser.accept("ulps"):
            parser.expect("=")
            ulps = parser.integer()
            parser.expect(",")
        parser.expect("mode")
        parser.expect("=")
        mode = parse_attribute_of_class(parser, mode_class)
        parser.expect(">")
        offset = parser.skip_trivia()  # C++ verifies the attribute at the next token
        if ulps < 0 or _is_negative(atol) or _is_negative(rtol):
            raise parser.error("Negative tolerance", offset)
        if mode.value != "TOLERANCE" and (atol or rtol or ulps):
            raise parser.error(
                f"Invalid tolerances for ResultAccuracyAttr with mode {mode.value}, must be all zero.", offset
            )
        return cls(atol, rtol, ulps, mode)

    dialect.printer(cls)(ResultAccuracy.print)


def _parse_tolerance(parser: AsmParser, name: str) -> int:
    """Parses an optional `name = number,`; returns the number's `f64` bit pattern, or 0 if absent."""
    if not parser.accept(name):
        return 0
    parser.expect("=")
    value = parser.floating()
    parser.expect(",")
    return int(unpack("<Q", pack("<d", value))[0])


def _is_negative(bits: int) -> bool:
    return bool(bits >> 63)


register_result_accuracy(stablehlo, ResultAccuracy, ResultAccuracyMode)


ELEMENTWISE_TRAITS = (ELEMENTWISE, SAME_SHAPE, NO_MEMORY_EFFECT)
TYPE_INFERRING_ELEMENTWISE_TRAITS = (INFERS_COMPATIBLE_TYPES, *ELEMENTWISE_TRAITS)
_UNARY_TRAITS = (COMPATIBLE_TYPES, *TYPE_INFERRING_ELEMENTWISE_TRAITS)


class UnaryOp(Op):
    """Base of unary operations whose operand is named `operand`."""

    assembly = assembly("$operand attr-dict `:` custom<SameOperandsAndResultType>")


class SameTypeUnaryOp(UnaryOp):
    """Base of unary operations whose result type is compatible with the operand type."""

    infer_result_types = staticmethod(most_specific_operand_type)


class FloatOp(SameTypeUnaryOp):
    """Base of unary operations on floats and per-tensor quantized types."""

    operand = operand(types.FLOAT_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_OR_QUANTIZED_TENSOR)


class TranscendentalOp(SameTypeUnaryOp):
    """Base of transcendental functions, which have a result accuracy."""

    operand = operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    result_accuracy = default_valued_optional_attr(RESULT_ACCURACY, DEFAULT_ACCURACY)


class IntegerOp(SameTypeUnaryOp):
    """Base of unary operations on integers."""

    operand = operand(types.INT_TENSOR)
    out = result(types.INT_TENSOR)


# --- Transcendental functions ---------------------------------------------------------------


@stablehlo.op("cbrt", *_UNARY_TRAITS)
class CbrtOp(TranscendentalOp):
    """The cube root."""


@stablehlo.op("cosine", *_UNARY_TRAITS)
class CosineOp(TranscendentalOp):
    """cos(x)."""


@stablehlo.op("exponential", *_UNARY_TRAITS)
class ExpOp(TranscendentalOp):
    """e to the power of x."""


@stablehlo.op("exponential_minus_one", *_UNARY_TRAITS)
class Expm1Op(TranscendentalOp):
    """e to the power of x, minus 1; accurate for small x."""


@stablehlo.op("log", *_UNARY_TRAITS)
class LogOp(TranscendentalOp):
    """The natural logarithm."""


@stablehlo.op("log_plus_one", *_UNARY_TRAITS)
class Log1pOp(TranscendentalOp):
    """The natural logarithm of 1 + x; accurate for small x."""


@stablehlo.op("logistic", *_UNARY_TRAITS)
class LogisticOp(TranscendentalOp):
    """1 / (1 + exp(-x))."""


@stablehlo.op("rsqrt", *_UNARY_TRAITS)
class RsqrtOp(TranscendentalOp):
    """1 / sqrt(x)."""


@stablehlo.op("sine", *_UNARY_TRAITS)
class SineOp(TranscendentalOp):
    """sin(x)."""


@stablehlo.op("sqrt", *_UNARY_TRAITS)
class SqrtOp(TranscendentalOp):
    """The square root."""


@stablehlo.op("tan", *_UNARY_TRAITS)
class TanOp(TranscendentalOp):
    """tan(x)."""


@stablehlo.op("tanh", *_UNARY_TRAITS)
class TanhOp(TranscendentalOp):
    """The hyperbolic tangent."""


# --- Rounding, bits, signs ------------------------------------------------------------------


@stablehlo.op("ceil", *_UNARY_TRAITS)
class CeilOp(FloatOp):
    """Rounds toward positive infinity."""


@stablehlo.op("floor", *_UNARY_TRAITS)
class FloorOp(FloatOp):
    """Rounds toward negative infinity."""


@stablehlo.op("round_nearest_afz", *_UNARY_TRAITS)
class RoundOp(FloatOp):
    """Rounds to the nearest integer, ties away from zero."""


@stablehlo.op("round_nearest_even", *_UNARY_TRAITS)
class RoundNearestEvenOp(FloatOp):
    """Rounds to the nearest integer, ties to even."""


@stablehlo.op("count_leading_zeros", *_UNARY_TRAITS)
class ClzOp(IntegerOp):
    """The number of leading zero bits."""


@stablehlo.op("popcnt", *_UNARY_TRAITS)
class PopulationCountOp(IntegerOp):
    """The number of one bits."""


@stablehlo.op("not", *_UNARY_TRAITS)
class NotOp(SameTypeUnaryOp):
    """Logical not of bools, bitwise not of integers."""

    operand = operand(types.PRED_OR_INT_TENSOR)
    out = result(types.PRED_OR_INT_TENSOR)


@stablehlo.op("negate", *_UNARY_TRAITS)
class NegOp(SameTypeUnaryOp):
    """-x."""

    operand = operand(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


@stablehlo.op("sign", *_UNARY_TRAITS)
class SignOp(SameTypeUnaryOp):
    """-1, 0 or 1; for complex numbers other than 0, x / abs(x)."""

    operand = operand(types.SIGNED_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.SIGNED_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


_TYPE_INFERRING_TRAITS = (INFERS_COMPATIBLE_TYPES, SAME_SHAPE, ELEMENTWISE, NO_MEMORY_EFFECT)
_BINARY_TRAITS = (COMPATIBLE_TYPES, *_TYPE_INFERRING_TRAITS)


class BinaryOp(Op):
    """Base of binary operations whose operands and result have compatible types."""

    assembly = assembly("$lhs `,` $rhs attr-dict `:` custom<SameOperandsAndResultType>")

    infer_result_types = staticmethod(most_specific_operand_type)


class AnyBinaryOp(BinaryOp):
    """Base of binary operations on any element type except per-axis quantized types."""

    lhs = operand(types.TENSOR)
    rhs = operand(types.TENSOR)
    out = result(types.TENSOR)


class NumberBinaryOp(BinaryOp):
    """Base of binary operations on any element type except bool and per-axis quantized types."""

    lhs = operand(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    rhs = operand(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


class ShiftOp(BinaryOp):
    """Base of bit shifts, on integers."""

    lhs = operand(types.INT_TENSOR)
    rhs = operand(types.INT_TENSOR)
    out = result(types.INT_TENSOR)


class LogicalOp(BinaryOp):
    """Base of logical operations on bools and bitwise operations on integers."""

    lhs = operand(types.PRED_OR_INT_TENSOR)
    rhs = operand(types.PRED_OR_INT_TENSOR)
    out = result(types.TENSOR)


@stablehlo.op("add", HLO_COMMUTATIVE, *_TYPE_INFERRING_TRAITS)
class AddOp(BinaryOp):
    """lhs + rhs; logical or for bools."""

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
            message = SAME_ELEMENT_REQUIRED(values="operands and results")
            raise signature.error_without_op_note("op " + message)


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


@stablehlo.op("subtract", *_BINARY_TRAITS)
class SubtractOp(NumberBinaryOp):
    """lhs - rhs."""


@stablehlo.op("multiply", HLO_COMMUTATIVE, *_BINARY_TRAITS)
class MulOp(AnyBinaryOp):
    """lhs * rhs; logical and for bools."""


@stablehlo.op("divide", *_BINARY_TRAITS)
class DivOp(NumberBinaryOp):
    """lhs / rhs; integer division rounds toward zero."""


@stablehlo.op("remainder", *_BINARY_TRAITS)
class RemOp(NumberBinaryOp):
    """The remainder of lhs / rhs, with the sign of lhs."""


@stablehlo.op("power", *_BINARY_TRAITS)
class PowOp(NumberBinaryOp):
    """lhs to the power of rhs."""


@stablehlo.op("maximum", HLO_COMMUTATIVE, *_BINARY_TRAITS)
class MaxOp(AnyBinaryOp):
    """The maximum of lhs and rhs; logical or for bools."""


@stablehlo.op("minimum", HLO_COMMUTATIVE, *_BINARY_TRAITS)
class MinOp(AnyBinaryOp):
    """The minimum of lhs and rhs; logical and for bools."""


@stablehlo.op("atan2", *_BINARY_TRAITS)
class Atan2Op(BinaryOp):
    """The arc tangent of lhs / rhs, with the quadrant given by their signs."""

    lhs = operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    rhs = operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


@stablehlo.op("and", HLO_COMMUTATIVE, *_BINARY_TRAITS)
class AndOp(LogicalOp):
    """Logical and of bools, bitwise and of integers."""


@stablehlo.op("or", HLO_COMMUTATIVE, *_BINARY_TRAITS)
class OrOp(LogicalOp):
    """Logical or of bools, bitwise or of integers."""


@stablehlo.op("xor", HLO_COMMUTATIVE, *_BINARY_TRAITS)
class XorOp(LogicalOp):
    """Logical exclusive or of bools, bitwise exclusive or of integers."""


@stablehlo.op("shift_left", *_BINARY_TRAITS)
class ShiftLeftOp(ShiftOp):
    """lhs shifted left by rhs bits."""


@stablehlo.op("shift_right_arithmetic", *_BINARY_TRAITS)
class ShiftRightArithmeticOp(ShiftOp):
    """lhs shifted right by rhs bits, filled with the sign bit."""


@stablehlo.op("shift_right_logical", *_BINARY_TRAITS)
class ShiftRightLogicalOp(ShiftOp):
    """lhs shifted right by rhs bits, filled with zeros."""


@stablehlo.op("complex", SAME_OPERAND_ELEMENT_TYPE, *_TYPE_INFERRING_TRAITS)
class ComplexOp(Op):
    """Complex numbers from their real (lhs) and imaginary (rhs) parts."""

    lhs = operand(types.FLOAT_32_64_TENSOR)
    rhs = operand(types.FLOAT_32_64_TENSOR)
    out = result(types.COMPLEX_TENSOR)

    assembly = assembly("operands attr-dict `:` custom<ComplexOpType>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        lhs = signature[ComplexOp.lhs]
        return [RankedTensor(lhs.shape, ComplexType(lhs.element), lhs.encoding)]
