"""Unary elementwise operations."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.dialects.chlo.assembly_directives import AnyTensorTypeOf
from sdyopt.dialects.chlo.dialect import chlo
from sdyopt.dialects.chlo.types import (
    ANY_COMPLEX_TENSOR,
    ANY_FLOAT_OR_COMPLEX_TENSOR,
    ANY_FLOAT_TENSOR,
    ANY_PRED_TENSOR,
)
from sdyopt.dialects.stablehlo.traits import COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES
from sdyopt.dialects.stablehlo.type_compatibility import most_specific_type
from sdyopt.ir import op_fields
from sdyopt.ir.block import Region
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import I1, RankedTensor, Type, UnrankedTensor

_ELEMENTWISE = (PURE, ELEMENTWISE, SAME_SHAPE)
_COMPATIBLE = (INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES, *_ELEMENTWISE)
_PREDICATE = (INFERS_COMPATIBLE_TYPES, *_ELEMENTWISE)


class UnaryOp(Op):
    """Base of the unary operations."""

    __slots__ = ()

    assembly = assembly(
        Operand("operand"), AttrDict(), ":", AnyTensorTypeOf("operand"), "->", AnyTensorTypeOf("result")
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [most_specific_type(signature, signature.operand_types)]


class FloatOp(UnaryOp):
    """Base of the operations on floats."""

    __slots__ = ()

    operand = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)


class FloatOrComplexOp(UnaryOp):
    """Base of the operations on floats and complex numbers."""

    __slots__ = ()

    operand = op_fields.operand(ANY_FLOAT_OR_COMPLEX_TENSOR)
    result = op_fields.result(ANY_FLOAT_OR_COMPLEX_TENSOR)


class PredicateOp(UnaryOp):
    """Base of the predicates on floats."""

    __slots__ = ()

    operand = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_PRED_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand = signature[PredicateOp.operand]
        if isinstance(operand, RankedTensor):
            return [RankedTensor(operand.shape, I1, operand.encoding)]
        return [UnrankedTensor(I1)]


# --- Floats and complex numbers ---------------------------------------------------------------


@chlo.op("_asin_acos_kernel", *_COMPATIBLE)
class AsinAcosKernelOp(UnaryOp):
    """The intermediate result that complex asin and acos share."""

    __slots__ = ()

    operand = op_fields.operand(ANY_COMPLEX_TENSOR)
    result = op_fields.result(ANY_COMPLEX_TENSOR)


@chlo.op("acos", *_COMPATIBLE)
class AcosOp(FloatOrComplexOp):
    """acos(x)."""

    __slots__ = ()


@chlo.op("acosh", *_COMPATIBLE)
class AcoshOp(FloatOrComplexOp):
    """acosh(x)."""

    __slots__ = ()


@chlo.op("asin", *_COMPATIBLE)
class AsinOp(FloatOrComplexOp):
    """asin(x)."""

    __slots__ = ()


@chlo.op("asinh", *_COMPATIBLE)
class AsinhOp(FloatOrComplexOp):
    """asinh(x)."""

    __slots__ = ()


@chlo.op("atan", *_COMPATIBLE)
class AtanOp(FloatOrComplexOp):
    """atan(x)."""

    __slots__ = ()


@chlo.op("atanh", *_COMPATIBLE)
class AtanhOp(FloatOrComplexOp):
    """atanh(x)."""

    __slots__ = ()


@chlo.op("bessel_i1e", *_COMPATIBLE)
class BesselI1eOp(FloatOrComplexOp):
    """The scaled modified Bessel function of order 1."""

    __slots__ = ()


@chlo.op("conj", *_COMPATIBLE)
class ConjOp(FloatOrComplexOp):
    """The complex conjugate."""

    __slots__ = ()


@chlo.op("cosh", *_COMPATIBLE)
class CoshOp(FloatOrComplexOp):
    """cosh(x)."""

    __slots__ = ()


@chlo.op("sinh", *_COMPATIBLE)
class SinhOp(FloatOrComplexOp):
    """sinh(x)."""

    __slots__ = ()


@chlo.op("square", *_COMPATIBLE)
class SquareOp(FloatOrComplexOp):
    """x * x."""

    __slots__ = ()


@chlo.op("tan", *_COMPATIBLE)
class TanOp(FloatOrComplexOp):
    """tan(x)."""

    __slots__ = ()


# --- Floats -------------------------------------------------------------------------------------


@chlo.op("digamma", *_COMPATIBLE)
class DigammaOp(FloatOp):
    """The derivative of log gamma."""

    __slots__ = ()


@chlo.op("erf", *_COMPATIBLE)
class ErfOp(FloatOp):
    """The error function."""

    __slots__ = ()


@chlo.op("erf_inv", *_COMPATIBLE)
class ErfInvOp(FloatOp):
    """The inverse of the error function."""

    __slots__ = ()


@chlo.op("erfc", *_COMPATIBLE)
class ErfcOp(FloatOp):
    """1 - erf(x)."""

    __slots__ = ()


@chlo.op("lgamma", *_COMPATIBLE)
class LgammaOp(FloatOp):
    """log |gamma(x)|."""

    __slots__ = ()


@chlo.op("is_inf", *_PREDICATE)
class IsInfOp(PredicateOp):
    """Whether x is infinite."""

    __slots__ = ()


@chlo.op("is_neg_inf", *_PREDICATE)
class IsNegInfOp(PredicateOp):
    """Whether x is minus infinity."""

    __slots__ = ()


@chlo.op("is_pos_inf", *_PREDICATE)
class IsPosInfOp(PredicateOp):
    """Whether x is plus infinity."""

    __slots__ = ()
