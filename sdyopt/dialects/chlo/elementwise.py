"""chlo operations that compute each element of the result from one element of each operand."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.chlo.asm import AnyTensorTypeOf, ResultTypes
from sdyopt.dialects.chlo.dialect import chlo
from sdyopt.dialects.chlo.types import (
    ANY_COMPLEX_TENSOR,
    ANY_FLOAT_OR_COMPLEX_TENSOR,
    ANY_FLOAT_TENSOR,
    ANY_PRED_TENSOR,
)
from sdyopt.dialects.stablehlo.asm import TensorTypeOf
from sdyopt.dialects.stablehlo.compatible import most_specific_type
from sdyopt.dialects.stablehlo.traits import COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES
from sdyopt.dialects.stablehlo.types import INT_TENSOR
from sdyopt.ir import fields
from sdyopt.ir.block import Region
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.ir.traits import COMMUTATIVE, PURE
from sdyopt.ir.types import I1, RankedTensor, Type, UnrankedTensor
from sdyopt.syntax.assembly import AttrDict, Operand, assembly

_MAPS = (PURE, ELEMENTWISE, SAME_SHAPE)
_SAME_UNARY = (INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES, *_MAPS)
_SAME_BINARY = (PURE, INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES)
_PREDICATE = (INFERS_COMPATIBLE_TYPES, *_MAPS)


class UnaryOp(Op):
    """Base of the operations with one operand."""

    __slots__ = ()

    assembly = assembly(
        Operand("operand"), AttrDict(), ":", AnyTensorTypeOf("operand"), "->", AnyTensorTypeOf("result")
    )

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [most_specific_type(form, form.operand_types)]


class FloatOp(UnaryOp):
    """Base of those on floats."""

    __slots__ = ()

    operand = fields.operand(ANY_FLOAT_TENSOR)
    result = fields.result(ANY_FLOAT_TENSOR)


class FloatOrComplexOp(UnaryOp):
    """Base of those on floats and complex numbers."""

    __slots__ = ()

    operand = fields.operand(ANY_FLOAT_OR_COMPLEX_TENSOR)
    result = fields.result(ANY_FLOAT_OR_COMPLEX_TENSOR)


class PredicateOp(UnaryOp):
    """Base of those that say something about floats."""

    __slots__ = ()

    operand = fields.operand(ANY_FLOAT_TENSOR)
    result = fields.result(ANY_PRED_TENSOR)

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        operand = form.operand
        if isinstance(operand, RankedTensor):
            return [RankedTensor(operand.shape, I1, operand.encoding)]
        return [UnrankedTensor(I1)]


# --- Floats and complex numbers ---------------------------------------------------------------


@chlo.op("_asin_acos_kernel", *_SAME_UNARY)
class AsinAcosKernelOp(UnaryOp):
    """What asin and acos of complex numbers have in common."""

    __slots__ = ()

    operand = fields.operand(ANY_COMPLEX_TENSOR)
    result = fields.result(ANY_COMPLEX_TENSOR)


@chlo.op("acos", *_SAME_UNARY)
class AcosOp(FloatOrComplexOp):
    """acos(x)."""

    __slots__ = ()


@chlo.op("acosh", *_SAME_UNARY)
class AcoshOp(FloatOrComplexOp):
    """acosh(x)."""

    __slots__ = ()


@chlo.op("asin", *_SAME_UNARY)
class AsinOp(FloatOrComplexOp):
    """asin(x)."""

    __slots__ = ()


@chlo.op("asinh", *_SAME_UNARY)
class AsinhOp(FloatOrComplexOp):
    """asinh(x)."""

    __slots__ = ()


@chlo.op("atan", *_SAME_UNARY)
class AtanOp(FloatOrComplexOp):
    """atan(x)."""

    __slots__ = ()


@chlo.op("atanh", *_SAME_UNARY)
class AtanhOp(FloatOrComplexOp):
    """atanh(x)."""

    __slots__ = ()


@chlo.op("bessel_i1e", *_SAME_UNARY)
class BesselI1eOp(FloatOrComplexOp):
    """The scaled modified Bessel function of order 1."""

    __slots__ = ()


@chlo.op("conj", *_SAME_UNARY)
class ConjOp(FloatOrComplexOp):
    """The complex conjugate."""

    __slots__ = ()


@chlo.op("cosh", *_SAME_UNARY)
class CoshOp(FloatOrComplexOp):
    """cosh(x)."""

    __slots__ = ()


@chlo.op("sinh", *_SAME_UNARY)
class SinhOp(FloatOrComplexOp):
    """sinh(x)."""

    __slots__ = ()


@chlo.op("square", *_SAME_UNARY)
class SquareOp(FloatOrComplexOp):
    """x * x."""

    __slots__ = ()


@chlo.op("tan", *_SAME_UNARY)
class TanOp(FloatOrComplexOp):
    """tan(x)."""

    __slots__ = ()


# --- Floats -------------------------------------------------------------------------------------


@chlo.op("digamma", *_SAME_UNARY)
class DigammaOp(FloatOp):
    """The derivative of log gamma."""

    __slots__ = ()


@chlo.op("erf", *_SAME_UNARY)
class ErfOp(FloatOp):
    """The error function."""

    __slots__ = ()


@chlo.op("erf_inv", *_SAME_UNARY)
class ErfInvOp(FloatOp):
    """The inverse of the error function."""

    __slots__ = ()


@chlo.op("erfc", *_SAME_UNARY)
class ErfcOp(FloatOp):
    """1 - erf(x)."""

    __slots__ = ()


@chlo.op("lgamma", *_SAME_UNARY)
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


# --- Two operands -------------------------------------------------------------------------------


class BinaryOp(Op):
    """Base of the operations with two operands of one type."""

    __slots__ = ()

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [most_specific_type(form, form.operand_types)]


@chlo.op("next_after", *_SAME_BINARY)
class NextAfterOp(BinaryOp):
    """The number next to x, towards y."""

    __slots__ = ()

    x = fields.operand(ANY_FLOAT_TENSOR)
    y = fields.operand(ANY_FLOAT_TENSOR)
    result = fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        *(Operand("x"), ",", Operand("y"), AttrDict()),
        *(":", AnyTensorTypeOf("x"), ",", AnyTensorTypeOf("y"), "->", ResultTypes()),
    )


@chlo.op("polygamma", *_SAME_BINARY)
class PolygammaOp(BinaryOp):
    """The n-th derivative of digamma."""

    __slots__ = ()

    n = fields.operand(ANY_FLOAT_TENSOR)
    x = fields.operand(ANY_FLOAT_TENSOR)
    result = fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        *(Operand("n"), ",", Operand("x"), AttrDict()),
        *(":", AnyTensorTypeOf("n"), ",", AnyTensorTypeOf("x"), "->", ResultTypes()),
    )


@chlo.op("zeta", *_SAME_BINARY)
class ZetaOp(BinaryOp):
    """Hurwitz's zeta function."""

    __slots__ = ()

    x = fields.operand(ANY_FLOAT_TENSOR)
    q = fields.operand(ANY_FLOAT_TENSOR)
    result = fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        *(Operand("x"), ",", Operand("q"), AttrDict()),
        *(":", AnyTensorTypeOf("x"), ",", AnyTensorTypeOf("q"), "->", ResultTypes()),
    )


@chlo.op("mulhi", COMMUTATIVE, *_SAME_BINARY)
class MulhiOp(BinaryOp):
    """The upper half of a product of integers."""

    __slots__ = ()

    lhs = fields.operand(INT_TENSOR)
    rhs = fields.operand(INT_TENSOR)
    result = fields.result(INT_TENSOR)

    assembly = assembly(
        *(Operand("lhs"), ",", Operand("rhs"), AttrDict()),
        *(":", TensorTypeOf("lhs"), ",", TensorTypeOf("rhs"), "->", TensorTypeOf("result")),
    )
