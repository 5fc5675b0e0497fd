"""stablehlo's elementwise unary operations."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.accuracy import DEFAULT_ACCURACY, RESULT_ACCURACY
from sdyopt.mlir.dialects.stablehlo.assembly_directives import SameOperandsAndResultType
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.traits import COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.type_compatibility import most_specific_type
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_fields import default_valued_optional_attr, operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT
from sdyopt.mlir.ir.types import Type

ELEMENTWISE_TRAITS = (ELEMENTWISE, SAME_SHAPE, NO_MEMORY_EFFECT)
TYPE_INFERRING_ELEMENTWISE_TRAITS = (INFERS_COMPATIBLE_TYPES, *ELEMENTWISE_TRAITS)
_COMPATIBLE_TYPE_TRAITS = (COMPATIBLE_TYPES, *TYPE_INFERRING_ELEMENTWISE_TRAITS)


class UnaryOp(Op):
    """Base of unary operations whose operand is named `operand`."""

    __slots__ = ()

    assembly = assembly(Operand("operand"), AttrDict(), ":", SameOperandsAndResultType())


class SameTypeUnaryOp(UnaryOp):
    """Base of unary operations whose result type is compatible with the operand type."""

    __slots__ = ()

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [most_specific_type(signature, signature.operand_types)]


class FloatOp(SameTypeUnaryOp):
    """Base of unary operations on floats and per-tensor quantized types."""

    __slots__ = ()

    operand = operand(types.FLOAT_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_OR_QUANTIZED_TENSOR)


class TranscendentalOp(SameTypeUnaryOp):
    """Base of transcendental functions, which have a result accuracy."""

    __slots__ = ()

    operand = operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    result_accuracy = default_valued_optional_attr(RESULT_ACCURACY, DEFAULT_ACCURACY)


class IntegerOp(SameTypeUnaryOp):
    """Base of unary operations on integers."""

    __slots__ = ()

    operand = operand(types.INT_TENSOR)
    out = result(types.INT_TENSOR)


# --- Transcendental functions ---------------------------------------------------------------


@stablehlo.op("cbrt", *_COMPATIBLE_TYPE_TRAITS)
class CbrtOp(TranscendentalOp):
    """The cube root."""

    __slots__ = ()


@stablehlo.op("cosine", *_COMPATIBLE_TYPE_TRAITS)
class CosineOp(TranscendentalOp):
    """cos(x)."""

    __slots__ = ()


@stablehlo.op("exponential", *_COMPATIBLE_TYPE_TRAITS)
class ExpOp(TranscendentalOp):
    """e to the power of x."""

    __slots__ = ()


@stablehlo.op("exponential_minus_one", *_COMPATIBLE_TYPE_TRAITS)
class Expm1Op(TranscendentalOp):
    """e to the power of x, minus 1; accurate for small x."""

    __slots__ = ()


@stablehlo.op("log", *_COMPATIBLE_TYPE_TRAITS)
class LogOp(TranscendentalOp):
    """The natural logarithm."""

    __slots__ = ()


@stablehlo.op("log_plus_one", *_COMPATIBLE_TYPE_TRAITS)
class Log1pOp(TranscendentalOp):
    """The natural logarithm of 1 + x; accurate for small x."""

    __slots__ = ()


@stablehlo.op("logistic", *_COMPATIBLE_TYPE_TRAITS)
class LogisticOp(TranscendentalOp):
    """1 / (1 + exp(-x))."""

    __slots__ = ()


@stablehlo.op("rsqrt", *_COMPATIBLE_TYPE_TRAITS)
class RsqrtOp(TranscendentalOp):
    """1 / sqrt(x)."""

    __slots__ = ()


@stablehlo.op("sine", *_COMPATIBLE_TYPE_TRAITS)
class SineOp(TranscendentalOp):
    """sin(x)."""

    __slots__ = ()


@stablehlo.op("sqrt", *_COMPATIBLE_TYPE_TRAITS)
class SqrtOp(TranscendentalOp):
    """The square root."""

    __slots__ = ()


@stablehlo.op("tan", *_COMPATIBLE_TYPE_TRAITS)
class TanOp(TranscendentalOp):
    """tan(x)."""

    __slots__ = ()


@stablehlo.op("tanh", *_COMPATIBLE_TYPE_TRAITS)
class TanhOp(TranscendentalOp):
    """The hyperbolic tangent."""

    __slots__ = ()


# --- Rounding, bits, signs ------------------------------------------------------------------


@stablehlo.op("ceil", *_COMPATIBLE_TYPE_TRAITS)
class CeilOp(FloatOp):
    """Rounds toward positive infinity."""

    __slots__ = ()


@stablehlo.op("floor", *_COMPATIBLE_TYPE_TRAITS)
class FloorOp(FloatOp):
    """Rounds toward negative infinity."""

    __slots__ = ()


@stablehlo.op("round_nearest_afz", *_COMPATIBLE_TYPE_TRAITS)
class RoundOp(FloatOp):
    """Rounds to the nearest integer, ties away from zero."""

    __slots__ = ()


@stablehlo.op("round_nearest_even", *_COMPATIBLE_TYPE_TRAITS)
class RoundNearestEvenOp(FloatOp):
    """Rounds to the nearest integer, ties to even."""

    __slots__ = ()


@stablehlo.op("count_leading_zeros", *_COMPATIBLE_TYPE_TRAITS)
class ClzOp(IntegerOp):
    """The number of leading zero bits."""

    __slots__ = ()


@stablehlo.op("popcnt", *_COMPATIBLE_TYPE_TRAITS)
class PopulationCountOp(IntegerOp):
    """The number of one bits."""

    __slots__ = ()


@stablehlo.op("not", *_COMPATIBLE_TYPE_TRAITS)
class NotOp(SameTypeUnaryOp):
    """Logical not of bools, bitwise not of integers."""

    __slots__ = ()

    operand = operand(types.PRED_OR_INT_TENSOR)
    out = result(types.PRED_OR_INT_TENSOR)


@stablehlo.op("negate", *_COMPATIBLE_TYPE_TRAITS)
class NegOp(SameTypeUnaryOp):
    """-x."""

    __slots__ = ()

    operand = operand(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


@stablehlo.op("sign", *_COMPATIBLE_TYPE_TRAITS)
class SignOp(SameTypeUnaryOp):
    """-1, 0 or 1; for complex numbers other than 0, x / abs(x)."""

    __slots__ = ()

    operand = operand(types.SIGNED_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.SIGNED_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
