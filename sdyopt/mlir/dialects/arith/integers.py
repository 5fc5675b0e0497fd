"""Integer arithmetic: sums, products, quotients, bitwise operations, shifts, minima and maxima."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.arith.dialect import (
    BOOL_LIKE,
    INTEGER_LIKE,
    NO_OVERFLOW,
    NUW,
    OVERFLOW,
    Constants,
    FoldResult,
    arith,
    element_type,
    fold_integers,
    signed,
    splat,
    splat_of,
    unsigned,
)
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import integer_width, wrapped
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_TYPE
from sdyopt.mlir.ir.traits import COMMUTATIVE, NO_MEMORY_EFFECT, PURE, UNIT_ATTR
from sdyopt.mlir.ir.types import IndexType, IntegerType, Type


class IntegerBinary(Op):
    """Base of the binary operations on integers."""

    lhs = operand(INTEGER_LIKE)
    rhs = operand(INTEGER_LIKE)
    out = result(INTEGER_LIKE)

    assembly = assembly("$lhs `,` $rhs attr-dict `:` type($out, $lhs, $rhs)")

    def fold_shift(
        self, constants: Constants, compute: Callable[[int, int], int], is_signed: bool
    ) -> FoldResult:
        """Folds a shift by zero, and one of constants; a shift by the width or more is undefined."""
        if splat_of(constants[1]) == 0:
            return [self.lhs]
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


def _reassociate_constants(compute: Callable[[int, int], int]) -> Pattern:
    """`op(op(x, c0), c1)` becomes `op(x, compute(c0, c1))`, without overflow flags."""

    def rewrite(op: Op, rewriter: Rewriter) -> bool:
        inner = op.operand_at(0).defining_op
        outer_constant = constant_value(op.operand_at(1).defining_op)
        if inner is None or type(inner) is not type(op) or outer_constant is None:
            return False
        inner_constant = constant_value(inner.operand_at(1).defining_op)
        if inner_constant is None:
            return False
        value = fold_integers((inner_constant, outer_constant), compute)
        materialize = op.dialect.materialize_constant
        constant = None if value is None else materialize(value, op.operand_at(1).type, op.location)
        if constant is None:
            return False
        rewriter.insert(constant, before=op)
        new_op = rewriter.create(
            type(op),
            [inner.operand_at(0), constant.results[0]],
            op.result_types,
            {"overflowFlags": NO_OVERFLOW},
            before=op,
            location=op.location,
        )
        rewriter.replace(op, new_op)
        return True

    return Pattern(rewrite)


class IntegerBinaryWithOverflow(IntegerBinary):
    """Base of the operations with overflow flags."""

    overflow_flags = attr(OVERFLOW, name="overflowFlags", default=NO_OVERFLOW)

    assembly = assembly(
        "$lhs `,` $rhs (`overflow` `` $overflow_flags^)? attr-dict `:` type($out, $lhs, $rhs)"
    )


@arith.op("addi", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class AddIOp(IntegerBinaryWithOverflow):
    """The sum of two integers, with wraparound."""

    canonicalizations = (_reassociate_constants(lambda a, b: a + b),)

    def fold(self, constants: Constants) -> FoldResult:
        if splat_of(constants[1]) == 0:
            return [self.lhs]
        value = fold_integers(constants, lambda a, b: a + b)
        return None if value is None else [value]


@arith.op("subi", PURE, SAME_TYPE, ELEMENTWISE)
class SubIOp(IntegerBinaryWithOverflow):
    """The difference of two integers, with wraparound."""

    def fold(self, constants: Constants) -> FoldResult:
        if self.lhs is self.rhs:
            zero = splat(0, self.result_types[0])
            return None if zero is None else [zero]
        if splat_of(constants[1]) == 0:
            return [self.lhs]
        value = fold_integers(constants, lambda a, b: a - b)
        return None if value is None else [value]


@arith.op("muli", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MulIOp(IntegerBinaryWithOverflow):
    """The product of two integers, with wraparound."""

    canonicalizations = (_reassociate_constants(lambda a, b: a * b),)

    def fold(self, constants: Constants) -> FoldResult:
        factor = splat_of(constants[1])
        if factor == 0 and constants[1] is not None:
            return [constants[1]]
        if factor is not None and _is_one(factor, constants[1]):
            return [self.lhs]
        value = fold_integers(constants, lambda a, b: a * b)
        return None if value is None else [value]


def _is_one(value: int, constant: Attribute | None) -> bool:
    type = element_type(constant)
    return type is not None and unsigned(value, type) == 1


class ExactBinary(IntegerBinary):
    """Base of the operations that may be `exact`: the result is undefined if bits of it are lost."""

    exact = optional_attr(UNIT_ATTR, name="isExact")

    assembly = assembly("$lhs `,` $rhs custom<UnitKeyword>($exact) attr-dict `:` type($out, $lhs, $rhs)")


@arith.op("divui", PURE, SAME_TYPE, ELEMENTWISE)
class DivUIOp(ExactBinary):
    """The quotient of two unsigned integers."""

    def fold(self, constants: Constants) -> FoldResult:
        divisor = splat_of(constants[1])
        if divisor is not None and _is_one(divisor, constants[1]):
            return [self.lhs]
        product = self.lhs.defining_op
        if isinstance(product, MulIOp) and product.overflow_flags.bits & NUW:
            if product.rhs is self.rhs:
                return [product.lhs]
            if product.lhs is self.rhs:
                return [product.rhs]
        value = _fold_division(constants, lambda a, b: a // b)
        return None if value is None else [value]


@arith.op("remui", PURE, SAME_TYPE, ELEMENTWISE)
class RemUIOp(IntegerBinary):
    """The remainder of two unsigned integers."""

    def fold(self, constants: Constants) -> FoldResult:
        divisor = splat_of(constants[1])
        if divisor is not None and _is_one(divisor, constants[1]):
            zero = splat(0, self.result_types[0])
            return None if zero is None else [zero]
        value = _fold_division(constants, lambda a, b: a % b)
        return None if value is None else [value]


def _fold_division(constants: Constants, compute: Callable[[int, int], int]) -> Attribute | None:
    type = element_type(constants[1])
    if type is None:
        return None

    def checked(a: int, b: int) -> int | None:
        return compute(unsigned(a, type), unsigned(b, type)) if b else None

    return fold_integers(constants, checked)


class _SignedDivision(IntegerBinary):
    """Base of the divisions of signed integers; a division by zero, and an overflow, is not folded."""

    compute: ClassVar[Callable[..., int]]

    def fold(self, constants: Constants) -> FoldResult:
        element, divisor = element_type(constants[1]), splat_of(constants[1])
        if divisor is not None and _is_one(divisor, constants[1]):
            return [self.lhs]
        if element is None:
            return None
        _, greatest = _value_range(element, is_signed=True)
        compute = type(self).compute

        def checked(a: int, b: int) -> int | None:
            value = None if b == 0 else compute(signed(a, element), signed(b, element))
            return None if value is None or value > greatest else value

        value = fold_integers(constants, checked)
        return None if value is None else [value]


def _truncated_quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) is (b < 0) else -1)


@arith.op("divsi", NO_MEMORY_EFFECT, SAME_TYPE, ELEMENTWISE)
class DivSIOp(_SignedDivision, ExactBinary):
    """The quotient of two signed integers, rounded towards zero."""

    compute = staticmethod(_truncated_quotient)


@arith.op("ceildivsi", NO_MEMORY_EFFECT, SAME_TYPE, ELEMENTWISE)
class CeilDivSIOp(_SignedDivision):
    """The quotient of two signed integers, rounded up."""

    compute = staticmethod(lambda a, b: -(-a // b))


@arith.op("floordivsi", NO_MEMORY_EFFECT, SAME_TYPE, ELEMENTWISE)
class FloorDivSIOp(_SignedDivision):
    """The quotient of two signed integers, rounded down."""

    compute = staticmethod(lambda a, b: a // b)


@arith.op("ceildivui", NO_MEMORY_EFFECT, SAME_TYPE, ELEMENTWISE)
class CeilDivUIOp(IntegerBinary):
    """The quotient of two unsigned integers, rounded up."""

    def fold(self, constants: Constants) -> FoldResult:
        divisor = splat_of(constants[1])
        if divisor is not None and _is_one(divisor, constants[1]):
            return [self.lhs]
        value = _fold_division(constants, lambda a, b: -(-a // b))
        return None if value is None else [value]


@arith.op("remsi", PURE, SAME_TYPE, ELEMENTWISE)
class RemSIOp(IntegerBinary):
    """The remainder of two signed integers, with the sign of the dividend."""

    def fold(self, constants: Constants) -> FoldResult:
        type, divisor = element_type(constants[1]), splat_of(constants[1])
        if type is None:
            return None
        if divisor is not None and _is_one(divisor, constants[1]):
            zero = splat(0, self.result_types[0])
            return None if zero is None else [zero]

        def checked(a: int, b: int) -> int | None:
            a, b = signed(a, type), signed(b, type)
            return a - b * _truncated_quotient(a, b) if b else None

        value = fold_integers(constants, checked)
        return None if value is None else [value]


class ExtendedProduct(Op):
    """Base of the products whose result has a low and a high half."""

    lhs = operand(INTEGER_LIKE)
    rhs = operand(INTEGER_LIKE)
    low = result(INTEGER_LIKE)
    high = result(INTEGER_LIKE)

    assembly = assembly("$lhs `,` $rhs attr-dict `:` type($lhs, $rhs, $low, $high)")

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "low"), (1, "high")]


@arith.op("mulsi_extended", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MulSIExtendedOp(ExtendedProduct):
    """The product of two signed integers, in twice their width."""


@arith.op("mului_extended", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MulUIExtendedOp(ExtendedProduct):
    """The product of two unsigned integers, in twice their width."""


@arith.op("addui_extended", PURE, COMMUTATIVE, ELEMENTWISE)
class AddUIExtendedOp(Op):
    """The sum of two unsigned integers, and whether it overflows."""

    lhs = operand(INTEGER_LIKE)
    rhs = operand(INTEGER_LIKE)
    sum = result(INTEGER_LIKE)
    overflow = result(BOOL_LIKE)

    assembly = assembly("$lhs `,` $rhs attr-dict `:` type($sum, $lhs, $rhs) `,` type($overflow)")

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "sum"), (1, "overflow")]


class _MinMaxOp(IntegerBinary):
    """Base of the min and max operations: one end of the value range is absorbing, the other neutral."""

    is_signed: ClassVar[bool]
    is_maximum: ClassVar[bool]

    def fold(self, constants: Constants) -> FoldResult:
        if self.lhs is self.rhs:
            return [self.rhs]
        rhs, type = constants[1], element_type(constants[1])
        number = splat_of(rhs)
        if rhs is not None and number is not None and type is not None:
            low, high = _value_range(type, self.is_signed)
            number = number if self.is_signed else unsigned(number, type)
            if number == (high if self.is_maximum else low):
                return [rhs]
            if number == (low if self.is_maximum else high):
                return [self.lhs]
        select = max if self.is_maximum else min

        def compute(a: int, b: int) -> int:
            assert type is not None
            read = signed if self.is_signed else unsigned
            return select(a, b, key=lambda value: read(value, type))

        value = fold_integers(constants, compute)
        return None if value is None else [value]


def _value_range(type: Type, is_signed: bool) -> tuple[int, int]:
    assert isinstance(type, IntegerType | IndexType)
    width = integer_width(type)
    if is_signed:
        # An i1 is stored as 0 or 1, and 1 means -1.
        return (1, 0) if width == 1 else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    return 0, (1 << width) - 1


@arith.op("maxsi", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MaxSIOp(_MinMaxOp):
    """The greater of two signed integers."""

    is_signed, is_maximum = True, True


@arith.op("maxui", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MaxUIOp(_MinMaxOp):
    """The greater of two unsigned integers."""

    is_signed, is_maximum = False, True


@arith.op("minsi", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MinSIOp(_MinMaxOp):
    """The smaller of two signed integers."""

    is_signed, is_maximum = True, False


@arith.op("minui", PURE, COMMUTATIVE, SAME_TYPE, ELEMENTWISE)
class MinUIOp(_MinMaxOp):
    """The smaller of two unsigned integers."""

    is_signed, is_maximum = False, False


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


@arith.op("shli", PURE, SAME_TYPE, ELEMENTWISE)
class ShLIOp(IntegerBinaryWithOverflow):
    """An integer shifted left."""

    def fold(self, constants: Constants) -> FoldResult:
        return self.fold_shift(constants, lambda a, b: a << b, is_signed=False)


@arith.op("shrsi", PURE, SAME_TYPE, ELEMENTWISE)
class ShRSIOp(ExactBinary):
    """A signed integer shifted right."""

    def fold(self, constants: Constants) -> FoldResult:
        return self.fold_shift(constants, lambda a, b: a >> b, is_signed=True)


@arith.op("shrui", PURE, SAME_TYPE, ELEMENTWISE)
class ShRUIOp(ExactBinary):
    """An unsigned integer shifted right."""

    def fold(self, constants: Constants) -> FoldResult:
        return self.fold_shift(constants, lambda a, b: a >> b, is_signed=False)
