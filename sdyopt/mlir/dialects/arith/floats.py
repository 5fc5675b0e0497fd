"""Floating-point arithmetic: sums, products, quotients, negation, minima and maxima."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, fmod, inf, isinf, isnan
from operator import add, mul, sub
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.arith.dialect import (
    FAST_MATH,
    FLOAT_LIKE,
    NEAREST_EVEN,
    NO_FAST_MATH,
    ROUNDING_MODE,
    arith,
)
from sdyopt.mlir.dialects.arith.folding import Constants, FoldResult, float_of, fold_floats
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_TYPE
from sdyopt.mlir.ir.traits import COMMUTATIVE, PURE


def _is_zero(number: float | None, sign: float) -> bool:
    return number == 0.0 and copysign(1.0, number) == sign


class FloatBinary(Op):
    """Base of the binary operations on floating-point numbers."""

    lhs = operand(FLOAT_LIKE)
    rhs = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(FLOAT_LIKE)

    assembly = assembly("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($out, $lhs, $rhs)")

    # Whether `op(x, x)` is `x`.
    is_idempotent: ClassVar[bool] = False
    # Whether `op(x, number)` is `x`, and the result.
    is_neutral: ClassVar[Callable[..., bool]]
    compute: ClassVar[Callable[..., float | None]]

    def fold(self, constants: Constants) -> FoldResult:
        if self.is_idempotent and self.lhs is self.rhs:
            return [self.rhs]
        number = float_of(constants[1])
        if number is not None and type(self).is_neutral(number):
            return [self.lhs]
        value = fold_floats(constants, type(self).compute)
        return None if value is None else [value]


class RoundedBinary(FloatBinary):
    """Base of the operations with a rounding mode."""

    rounding_mode = optional_attr(ROUNDING_MODE, name="roundingmode")

    assembly = assembly(
        "$lhs `,` $rhs custom<RoundingMode>($rounding_mode) (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($out, $lhs, $rhs)"
    )

    def fold(self, constants: Constants) -> FoldResult:
        if self.rounding_mode in (None, NEAREST_EVEN):
            return super().fold(constants)
        # Results of the other modes are left to a compiler.
        number = float_of(constants[1])
        return [self.lhs] if number is not None and type(self).is_neutral(number) else None


@arith.op("addf", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class AddFOp(RoundedBinary):
    """The sum of two numbers."""

    is_neutral = staticmethod(lambda number: _is_zero(number, -1.0))
    compute = staticmethod(add)


@arith.op("subf", PURE, SAME_TYPE, ELEMENTWISE)
class SubFOp(RoundedBinary):
    """The difference of two numbers."""

    is_neutral = staticmethod(lambda number: _is_zero(number, 1.0))
    compute = staticmethod(sub)


@arith.op("mulf", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MulFOp(RoundedBinary):
    """The product of two numbers."""

    is_neutral = staticmethod(lambda number: number == 1.0)
    compute = staticmethod(mul)


@arith.op("divf", PURE, SAME_TYPE, ELEMENTWISE)
class DivFOp(RoundedBinary):
    """The quotient of two numbers."""

    is_neutral = staticmethod(lambda number: number == 1.0)
    compute = staticmethod(lambda a, b: a / b if b else None)


@arith.op("remf", PURE, SAME_TYPE, ELEMENTWISE)
class RemFOp(FloatBinary):
    """The remainder of two numbers, with the sign of the dividend."""

    is_neutral = staticmethod(lambda number: False)
    compute = staticmethod(lambda a, b: fmod(a, b) if b and not isinf(a) else None)


@arith.op("maximumf", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MaximumFOp(FloatBinary):
    """The greater of two numbers; NaN if either is NaN."""

    is_idempotent = True
    is_neutral = staticmethod(lambda number: number == -inf)
    compute = staticmethod(lambda a, b: a + b if isnan(a) or isnan(b) else max((a, b), key=_order))


@arith.op("minimumf", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MinimumFOp(FloatBinary):
    """The smaller of two numbers; NaN if either is NaN."""

    is_idempotent = True
    is_neutral = staticmethod(lambda number: number == inf)
    compute = staticmethod(lambda a, b: a + b if isnan(a) or isnan(b) else min((a, b), key=_order))


@arith.op("maxnumf", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MaxNumFOp(FloatBinary):
    """The greater of two numbers; if one is NaN, the other number."""

    is_idempotent = True
    is_neutral = staticmethod(isnan)
    compute = staticmethod(lambda a, b: b if isnan(a) else max((a, b), key=_order))


@arith.op("minnumf", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MinNumFOp(FloatBinary):
    """The smaller of two numbers; if one is NaN, the other number."""

    is_idempotent = True
    is_neutral = staticmethod(isnan)
    compute = staticmethod(lambda a, b: b if isnan(a) else min((a, b), key=_order))


def _order(number: float) -> tuple[float, float]:
    """A sort key by which -0 is less than 0."""
    return number, copysign(1.0, number)


@arith.op("negf", PURE, SAME_TYPE, ELEMENTWISE)
class NegFOp(Op):
    """The negation of a number."""

    operand = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(FLOAT_LIKE)

    assembly = assembly("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($out, $operand)")

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.operand.defining_op
        if isinstance(inner, NegFOp):
            return [inner.operand]
        value = fold_floats(constants, lambda number: -number)
        return None if value is None else [value]
