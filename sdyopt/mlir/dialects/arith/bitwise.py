"""Bitwise operations on integers, and shifts."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.mlir.dialects.arith.dialect import arith
from sdyopt.mlir.dialects.arith.folding import (
    Constants,
    FoldResult,
    element_type,
    fold_integers,
    signed,
    splat,
    splat_of,
    unsigned,
)
from sdyopt.mlir.dialects.arith.integers import ExactBinary, IntegerBinary, IntegerBinaryWithOverflow
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import integer_width, wrapped
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_TYPE
from sdyopt.mlir.ir.traits import COMMUTATIVE, PURE
from sdyopt.mlir.ir.types import IndexType, IntegerType


def _has_all_bits(constant: Attribute | None) -> bool:
    """Whether all bits of an integer, or of all elements of a splat, are set."""
    value, type = splat_of(constant), element_type(constant)
    if value is None or not isinstance(type, IntegerType | IndexType):
        return False
    return unsigned(value, type) == (1 << integer_width(type)) - 1


@arith.op("andi", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class AndIOp(IntegerBinary):
    """The bits that both integers have."""

    def fold(self, constants: Constants) -> FoldResult:
        if self.lhs is self.rhs or _has_all_bits(constants[1]):
            return [self.lhs]
        if constants[1] is not None and splat_of(constants[1]) == 0:
            return [constants[1]]
        # Whether one integer is the other `xor` all bits.
        are_complements = any(
            isinstance(op, XOrIOp) and op.lhs is other and _has_all_bits(constant_value(op.rhs.defining_op))
            for op, other in ((self.lhs.defining_op, self.rhs), (self.rhs.defining_op, self.lhs))
        )
        if are_complements:
            zero = splat(0, self.result_types[0])
            return None if zero is None else [zero]
        value = fold_integers(constants, lambda a, b: a & b)
        return None if value is None else [value]


@arith.op("ori", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class OrIOp(IntegerBinary):
    """The bits that either integer has."""

    def fold(self, constants: Constants) -> FoldResult:
        if self.lhs is self.rhs or splat_of(constants[1]) == 0:
            return [self.lhs]
        if constants[1] is not None and _has_all_bits(constants[1]):
            return [constants[1]]
        value = fold_integers(constants, lambda a, b: a | b)
        return None if value is None else [value]


@arith.op("xori", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class XOrIOp(IntegerBinary):
    """The bits that exactly one of the integers has."""

    def fold(self, constants: Constants) -> FoldResult:
        if splat_of(constants[1]) == 0:
            return [self.lhs]
        if self.lhs is self.rhs:
            zero = splat(0, self.result_types[0])
            return None if zero is None else [zero]
        for inner, other in ((self.lhs.defining_op, self.rhs), (self.rhs.defining_op, self.lhs)):
            if isinstance(inner, XOrIOp) and other in (inner.lhs, inner.rhs):
                return [inner.lhs if inner.rhs is other else inner.rhs]
        value = fold_integers(constants, lambda a, b: a ^ b)
        return None if value is None else [value]


def _fold_shift(
    op: IntegerBinary, constants: Constants, compute: Callable[[int, int], int], is_signed: bool
) -> FoldResult:
    """Folds a shift by zero, and one of constants; a shift by the width or more is undefined."""
    if splat_of(constants[1]) == 0:
        return [op.lhs]
    type = element_type(constants[1])
    if not isinstance(type, IntegerType | IndexType):
        return None
    width = integer_width(type)

    def checked(a: int, b: int) -> int | None:
        distance = unsigned(b, type)
        read = signed if is_signed else unsigned
        return wrapped(compute(read(a, type), distance), type) if distance < width else None

    value = fold_integers(constants, checked)
    return None if value is None else [value]


@arith.op("shli", PURE, SAME_TYPE, ELEMENTWISE)
class ShLIOp(IntegerBinaryWithOverflow):
    """An integer shifted left."""

    def fold(self, constants: Constants) -> FoldResult:
        return _fold_shift(self, constants, lambda a, b: a << b, is_signed=False)


@arith.op("shrsi", PURE, SAME_TYPE, ELEMENTWISE)
class ShRSIOp(ExactBinary):
    """A signed integer shifted right."""

    def fold(self, constants: Constants) -> FoldResult:
        return _fold_shift(self, constants, lambda a, b: a >> b, is_signed=True)


@arith.op("shrui", PURE, SAME_TYPE, ELEMENTWISE)
class ShRUIOp(ExactBinary):
    """An unsigned integer shifted right."""

    def fold(self, constants: Constants) -> FoldResult:
        return _fold_shift(self, constants, lambda a, b: a >> b, is_signed=False)
