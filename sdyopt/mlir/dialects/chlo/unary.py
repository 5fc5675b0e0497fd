"""Unary elementwise operations."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.dialects.chlo.assembly_directives import AnyTensorTypeOf
from sdyopt.mlir.dialects.chlo.dialect import chlo
from sdyopt.mlir.dialects.chlo.types import (
    ANY_COMPLEX_TENSOR,
    ANY_FLOAT_OR_COMPLEX_TENSOR,
    ANY_FLOAT_TENSOR,
    ANY_PRED_TENSOR,
)
from sdyopt.mlir.dialects.stablehlo.traits import COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.type_compatibility import most_specific_type
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import I1, RankedTensor, Type, UnrankedTensor

_ELEMENTWISE_TRAITS = (PURE, ELEMENTWISE, SAME_SHAPE)
_COMPATIBLE_TYPE_TRAITS = (INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES, *_ELEMENTWISE_TRAITS)
_PREDICATE_TRAITS = (INFERS_COMPATIBLE_TYPES, *_ELEMENTWISE_TRAITS)


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
    """Base of the unary operations on floats."""

    __slots__ = ()

    operand = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)


class FloatOrComplexOp(UnaryOp):
    """Base of the unary operations on floats and complex numbers."""

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


@chlo.op("_asin_acos_kernel", *_COMPATIBLE_TYPE_TRAITS)
class AsinAcosKernelOp(UnaryOp):
    """The intermediate result that complex asin and acos share."""

    __slots__ = ()

    operand = op_fields.operand(ANY_COMPLEX_TENSOR)
    result = op_fields.result(ANY_COMPLEX_TENSOR)


@chlo.op("acos", *_COMPATIBLE_TYPE_TRAITS)
class AcosOp(FloatOrComplexOp):
    """acos(x)."""

    __slots__ = ()


@chlo.op("acosh", *_COMPATIBLE_TYPE_TRAITS)
class AcoshOp(FloatOrComplexOp):
    """acosh(x)."""

    __slots__ = ()


@chlo.op("asin", *_COMPATIBLE_TYPE_TRAITS)
class AsinOp(FloatOrComplexOp):
    """asin(x)."""

    __slots__ = ()


@chlo.op("asinh", *_COMPATIBLE_TYPE_TRAITS)
class AsinhOp(FloatOrComplexOp):
    """asinh(x)."""

    __slots__ = ()


@chlo.op("atan", *_COMPATIBLE_TYPE_TRAITS)
class AtanOp(FloatOrComplexOp):
    """atan(x)."""

    __slots__ = ()


@chlo.op("atanh", *_COMPATIBLE_TYPE_TRAITS)
class AtanhOp(FloatOrComplexOp):
    """atanh(x)."""

    __slots__ = ()


@chlo.op("bessel_i1e", *_COMPATIBLE_TYPE_TRAITS)
class BesselI1eOp(FloatOrComplexOp):
    """The exponentially scaled modified Bessel function of the first kind, of order 1."""

    __slots__ = ()


@chlo.op("conj", *_COMPATIBLE_TYPE_TRAITS)
class ConjOp(FloatOrComplexOp):
    """The complex conjugate."""

    __slots__ = ()


@chlo.op("cosh", *_COMPATIBLE_TYPE_TRAITS)
class CoshOp(FloatOrComplexOp):
    """cosh(x)."""

    __slots__ = ()


@chlo.op("sinh", *_COMPATIBLE_TYPE_TRAITS)
class SinhOp(FloatOrComplexOp):
    """sinh(x)."""

    __slots__ = ()


@chlo.op("square", *_COMPATIBLE_TYPE_TRAITS)
class SquareOp(FloatOrComplexOp):
    """x * x."""

    __slots__ = ()


@chlo.op("tan", *_COMPATIBLE_TYPE_TRAITS)
class TanOp(FloatOrComplexOp):
    """tan(x)."""

    __slots__ = ()


# --- Floats -------------------------------------------------------------------------------------


@chlo.op("digamma", *_COMPATIBLE_TYPE_TRAITS)
class DigammaOp(FloatOp):
    """The derivative of lgamma."""

    __slots__ = ()


@chlo.op("erf", *_COMPATIBLE_TYPE_TRAITS)
class ErfOp(FloatOp):
    """The error function."""

    __slots__ = ()


@chlo.op("erf_inv", *_COMPATIBLE_TYPE_TRAITS)
class ErfInvOp(FloatOp):
    """The inverse of the error function."""

    __slots__ = ()


@chlo.op("erfc", *_COMPATIBLE_TYPE_TRAITS)
class ErfcOp(FloatOp):
    """1 - erf(x)."""

    __slots__ = ()


@chlo.op("lgamma", *_COMPATIBLE_TYPE_TRAITS)
class LgammaOp(FloatOp):
    """log |gamma(x)|."""

    __slots__ = ()


@chlo.op("is_inf", *_PREDICATE_TRAITS)
class IsInfOp(PredicateOp):
    """Whether x is infinite."""

    __slots__ = ()


@chlo.op("is_neg_inf", *_PREDICATE_TRAITS)
class IsNegInfOp(PredicateOp):
    """Whether x is minus infinity."""

    __slots__ = ()


@chlo.op("is_pos_inf", *_PREDICATE_TRAITS)
class IsPosInfOp(PredicateOp):
    """Whether x is plus infinity."""

    __slots__ = ()
