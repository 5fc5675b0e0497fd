"""The math dialect: functions of numbers. Only absolute values of constants are folded."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.arith.compare import boolean_like, make_constant
from sdyopt.mlir.dialects.arith.dialect import (
    BOOL_LIKE,
    FAST_MATH,
    FLOAT_LIKE,
    INTEGER_LIKE,
    NO_FAST_MATH,
    ROUNDING_MODE,
    Constants,
    FoldResult,
    fold_floats,
)
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE, SAME_TYPE
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import Type

math = DIALECT = Dialect("math")
math.is_inlinable = True
math.materialize_constant = make_constant


class FloatUnary(Op):
    """Base of the functions of one floating-point number."""

    operand = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(FLOAT_LIKE)

    assembly = assembly("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($out, $operand)")


class FloatBinary(Op):
    """Base of the functions of two floating-point numbers."""

    lhs = operand(FLOAT_LIKE)
    rhs = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(FLOAT_LIKE)

    assembly = assembly("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($out, $lhs, $rhs)")


class IntegerUnary(Op):
    """Base of the functions of one integer."""

    operand = operand(INTEGER_LIKE)
    out = result(INTEGER_LIKE)

    assembly = assembly("$operand attr-dict `:` type($out, $operand)")


class FloatPredicate(Op):
    """Base of the properties of a floating-point number."""

    operand = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(BOOL_LIKE)

    assembly = assembly("$operand attr-dict `:` type($operand)")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [boolean_like(signature.operand_types[0])]


@math.op("absf", PURE, SAME_TYPE, ELEMENTWISE)
class AbsFOp(FloatUnary):
    """The absolute value of a number."""

    def fold(self, constants: Constants) -> FoldResult:
        value = fold_floats(constants, abs)
        return None if value is None else [value]


# The operations without anything of their own, by their base class.
_DECLARED: tuple[tuple[type[Op], str], ...] = (
    (
        FloatUnary,
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 floor log log10 log1p "
        "log2 round roundeven rsqrt sin sinh sqrt tan tanh trunc",
    ),
    (FloatBinary, "atan2 copysign powf"),
    (IntegerUnary, "absi ctlz ctpop cttz"),
)
for _base, _names in _DECLARED:
    for _name in _names.split():
        _members = {"__module__": __name__, "__doc__": f"The function {_name}."}
        math.op(_name, PURE, SAME_TYPE, ELEMENTWISE)(type(f"{_name.capitalize()}Op", (_base,), _members))
for _name in ("isfinite", "isinf", "isnan", "isnormal"):
    _members = {"__module__": __name__, "__doc__": f"The property {_name}."}
    _class = type(f"{_name.capitalize()}Op", (FloatPredicate,), _members)
    math.op(_name, PURE, ELEMENTWISE, SAME_SHAPE)(_class)


@math.op("ipowi", PURE, SAME_TYPE, ELEMENTWISE)
class IPowIOp(Op):
    """An integer to the power of an integer."""

    lhs = operand(INTEGER_LIKE)
    rhs = operand(INTEGER_LIKE)
    out = result(INTEGER_LIKE)

    assembly = assembly("$lhs `,` $rhs attr-dict `:` type($out, $lhs, $rhs)")


@math.op("fpowi", PURE, SAME_SHAPE, ELEMENTWISE)
class FPowIOp(Op):
    """A floating-point number to the power of an integer."""

    lhs = operand(FLOAT_LIKE)
    rhs = operand(INTEGER_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(FLOAT_LIKE)

    assembly = assembly(
        "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs, $out) `,` type($rhs)"
    )


@math.op("fma", PURE, SAME_TYPE, ELEMENTWISE)
class FmaOp(Op):
    """`a * b + c`, rounded once."""

    a = operand(FLOAT_LIKE)
    b = operand(FLOAT_LIKE)
    c = operand(FLOAT_LIKE)
    rounding_mode = optional_attr(ROUNDING_MODE, name="roundingmode")
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(FLOAT_LIKE)

    assembly = assembly(
        "$a `,` $b `,` $c custom<RoundingMode>($rounding_mode) (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($out, $a, $b, $c)"
    )


@math.op("clampf", PURE, SAME_TYPE, ELEMENTWISE)
class ClampFOp(Op):
    """A number, at least `min` and at most `max`."""

    value = operand(FLOAT_LIKE)
    min = operand(FLOAT_LIKE)
    max = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(FLOAT_LIKE)

    assembly = assembly(
        "$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($out, $value, $min, $max)"
    )


@math.op("sincos", PURE, SAME_TYPE, ELEMENTWISE)
class SincosOp(Op):
    """The sine and the cosine of a number."""

    operand = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    sin = result(FLOAT_LIKE)
    cos = result(FLOAT_LIKE)

    assembly = assembly("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand, $sin, $cos)")

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "sin"), (1, "cos")]
