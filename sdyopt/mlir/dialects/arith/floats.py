"""Floating-point arithmetic, and conversions between types of numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, fmod, inf, isinf, isnan
from operator import add, mul, sub
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.dialect import (
    BITS_OR_MEMREF,
    FAST_MATH,
    FIXED_WIDTH_INTEGER_LIKE,
    FLOAT_LIKE,
    INTEGER_OR_MEMREF,
    NEAREST_EVEN,
    NO_FAST_MATH,
    NO_OVERFLOW,
    OVERFLOW,
    ROUNDING_MODE,
    Constants,
    FoldResult,
    arith,
    element_type,
    float_of,
    fold_floats,
    fold_integers,
    signed,
    unsigned,
)
from sdyopt.mlir.ir.op_fields import OperandField, attr, operand, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE, SAME_TYPE
from sdyopt.mlir.ir.traits import COMMUTATIVE, PURE, UNIT_ATTR, Trait, TypeConstraint
from sdyopt.mlir.ir.types import (
    FloatType,
    IndexType,
    IntegerType,
    RankedShapedType,
    RankedTensor,
    Type,
    element_of,
)
from sdyopt.mlir.ir.value import Value


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


def _width(type: Type) -> int:
    """The width of an element, in bits; 0 for an index."""
    element = element_of(type)
    if isinstance(element, FloatType):
        return element.format.width
    return element.width if isinstance(element, IntegerType) else 0


def _check_dimensions(signature: OpSignature) -> None:
    source, target = signature.operand_types[0], signature.result_types[0]
    if isinstance(source, RankedTensor) and isinstance(target, RankedTensor) and source.shape != target.shape:
        raise signature.op_error("failed to verify that input and output have the same tensor dimensions")


CAST_TRAITS = (Trait("same-tensor-dimensions", _check_dimensions), SAME_SHAPE, ELEMENTWISE, PURE)


# Of the conversions of unsigned integers; with `nneg`, a negative number gives poison.
_NON_NEGATIVE_ASSEMBLY = assembly("$in_ custom<UnitKeyword>($nneg) attr-dict `:` type($in_) `to` type($out)")


class CastOp(Op):
    """Base of the conversions: `arith.extsi %x : i8 to i32`."""

    # Whether the types of operand and result can be converted.
    is_compatible: ClassVar[Callable[..., bool]]

    assembly = assembly("$in_ attr-dict `:` type($in_) `to` type($out)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        op_class = signature.op_class
        assert issubclass(op_class, CastOp)
        source, target = signature.operand_types[0], signature.result_types[0]
        encodings = {type.encoding for type in (source, target) if isinstance(type, RankedTensor)}
        if len(encodings) > 1 or not op_class.is_compatible(source, target):
            raise signature.op_error(
                f"operand type '{plain_type(source)}' and result type '{plain_type(target)}' are cast "
                "incompatible"
            )


def _is_wider(source: Type, target: Type) -> bool:
    return _width(source) < _width(target)


def _is_narrower(source: Type, target: Type) -> bool:
    return _width(source) > _width(target)


def _always(_source: Type, _target: Type) -> bool:
    return True


def _is_index_and_integer(source: Type, target: Type) -> bool:
    return isinstance(element_of(source), IndexType) is not isinstance(element_of(target), IndexType)


class IntegerCast(CastOp):
    """Base of the conversions between integers that read the operand as signed or as unsigned."""

    # The number that an integer of the type of the operand is.
    read: ClassVar[Callable[..., int]]

    def fold(self, constants: Constants) -> FoldResult:
        type, read = element_type(constants[0]), self.__class__.read
        if type is None:
            return None
        value = fold_integers(constants, lambda number: read(number, type), element_of(self.results[0].type))
        return None if value is None else [value]


class IntegerExtension(IntegerCast):
    """Base of the extensions of integers."""

    in_ = operand(FIXED_WIDTH_INTEGER_LIKE)
    out = result(FIXED_WIDTH_INTEGER_LIKE)

    is_compatible = staticmethod(_is_wider)


@arith.op("extsi", *CAST_TRAITS)
class ExtSIOp(IntegerExtension):
    """Extends a signed integer."""

    read = staticmethod(signed)


@arith.op("extui", *CAST_TRAITS)
class ExtUIOp(IntegerExtension):
    """Extends an unsigned integer."""

    nneg = optional_attr(UNIT_ATTR, name="nonNeg")

    assembly = _NON_NEGATIVE_ASSEMBLY
    read = staticmethod(unsigned)


@arith.op("trunci", *CAST_TRAITS)
class TruncIOp(CastOp):
    """Truncates an integer."""

    in_ = operand(FIXED_WIDTH_INTEGER_LIKE)
    overflow_flags = attr(OVERFLOW, name="overflowFlags", default=NO_OVERFLOW)
    out = result(FIXED_WIDTH_INTEGER_LIKE)

    is_compatible = staticmethod(_is_narrower)
    assembly = assembly("$in_ (`overflow` `` $overflow_flags^)? attr-dict `:` type($in_) `to` type($out)")

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.in_.defining_op
        if isinstance(inner, IntegerExtension) and inner.in_.type is self.out.type:
            return [inner.in_]
        value = fold_integers(constants, lambda number: number, element_of(self.results[0].type))
        return None if value is None else [value]


@arith.op("extf", *CAST_TRAITS)
class ExtFOp(CastOp):
    """Extends a floating-point number."""

    in_ = operand(FLOAT_LIKE)
    fastmath = optional_attr(FAST_MATH)
    out = result(FLOAT_LIKE)

    is_compatible = staticmethod(_is_wider)
    assembly = assembly("$in_ (`fastmath` `` $fastmath^)? attr-dict `:` type($in_) `to` type($out)")


@arith.op("truncf", *CAST_TRAITS)
class TruncFOp(CastOp):
    """Rounds a floating-point number to a narrower type."""

    in_ = operand(FLOAT_LIKE)
    rounding_mode = optional_attr(ROUNDING_MODE, name="roundingmode")
    fastmath = optional_attr(FAST_MATH)
    out = result(FLOAT_LIKE)

    is_compatible = staticmethod(_is_narrower)
    assembly = assembly(
        "$in_ custom<RoundingMode>($rounding_mode) (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($in_) `to` type($out)"
    )


def _declare(name: str, summary: str, source: TypeConstraint[Type], target: TypeConstraint[Type]) -> None:
    """Declares a conversion that is possible between all types that it accepts."""

    class Conversion(CastOp):
        in_ = operand(source)
        out = result(target)

        is_compatible = staticmethod(_always)

    Conversion.__doc__ = summary
    arith.op(name, *CAST_TRAITS)(Conversion)


_declare("sitofp", "Converts a signed integer to floating point.", FIXED_WIDTH_INTEGER_LIKE, FLOAT_LIKE)
_declare("fptosi", "Rounds towards zero to a signed integer.", FLOAT_LIKE, FIXED_WIDTH_INTEGER_LIKE)
_declare("fptoui", "Rounds towards zero to an unsigned integer.", FLOAT_LIKE, FIXED_WIDTH_INTEGER_LIKE)


@arith.op("uitofp", *CAST_TRAITS)
class UIToFPOp(CastOp):
    """Converts an unsigned integer to floating point."""

    in_ = operand(FIXED_WIDTH_INTEGER_LIKE)
    nneg = optional_attr(UNIT_ATTR, name="nonNeg")
    out = result(FLOAT_LIKE)

    is_compatible = staticmethod(_always)
    assembly = _NON_NEGATIVE_ASSEMBLY


class IndexCast(IntegerCast):
    """Base of the conversions between integers and indices."""

    in_ = operand(INTEGER_OR_MEMREF)
    out = result(INTEGER_OR_MEMREF)

    is_compatible = staticmethod(_is_index_and_integer)


@arith.op("index_cast", *CAST_TRAITS)
class IndexCastOp(IndexCast):
    """Converts a signed integer to an index, or an index to an integer."""

    read = staticmethod(signed)


@arith.op("index_castui", *CAST_TRAITS)
class IndexCastUIOp(IndexCast):
    """Converts an unsigned integer to an index, or an index to an integer."""

    nneg = optional_attr(UNIT_ATTR, name="nonNeg")

    assembly = _NON_NEGATIVE_ASSEMBLY
    read = staticmethod(unsigned)


@arith.op("bitcast", *CAST_TRAITS)
class BitcastOp(CastOp):
    """The same bits as another type of the same width."""

    in_ = operand(BITS_OR_MEMREF)
    out = result(BITS_OR_MEMREF)

    is_compatible = staticmethod(lambda source, target: _width(source) == _width(target))


# --- Conversions with a scale ------------------------------------------------------------------


class _ScaledCastOp(Op):
    """Base of the conversions of numbers in a microscaling format."""

    in_: OperandField[Value, Type]
    scale: OperandField[Value, Type]

    # Whether the elements of operand and result can be converted.
    is_compatible: ClassVar[Callable[..., bool]]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        op_class = signature.op_class
        assert issubclass(op_class, _ScaledCastOp)
        source, scale = signature.operand_types
        (target,) = signature.result_types
        shapes = [type.shape if isinstance(type, RankedShapedType) else None for type in (source, target)]
        if shapes[0] != shapes[1] or not op_class.is_compatible(source, target):
            raise signature.op_error(
                f"operand types '{plain_type(source)}', '{plain_type(scale)}' and result type "
                f"'{plain_type(target)}' are cast incompatible"
            )


@arith.op("scaling_extf", PURE, Trait("same-tensor-dimensions", _check_dimensions))
class ScalingExtFOp(_ScaledCastOp):
    """Extends a floating-point number, and multiplies it by a scale."""

    in_ = operand(FLOAT_LIKE)
    scale = operand(FLOAT_LIKE)
    fastmath = optional_attr(FAST_MATH)
    out = result(FLOAT_LIKE)

    is_compatible = staticmethod(_is_wider)
    assembly = assembly(
        "$in_ `,` $scale (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($in_) `,` type($scale) `to` type($out)"
    )


@arith.op("scaling_truncf", PURE, Trait("same-tensor-dimensions", _check_dimensions))
class ScalingTruncFOp(_ScaledCastOp):
    """Divides a floating-point number by a scale, and rounds it to a narrower type."""

    in_ = operand(FLOAT_LIKE)
    scale = operand(FLOAT_LIKE)
    rounding_mode = optional_attr(ROUNDING_MODE, name="roundingmode")
    fastmath = optional_attr(FAST_MATH)
    out = result(FLOAT_LIKE)

    is_compatible = staticmethod(_is_narrower)
    assembly = assembly(
        "$in_ `,` $scale custom<RoundingMode>($rounding_mode) (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($in_) `,` type($scale) `to` type($out)"
    )
