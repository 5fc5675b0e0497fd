"""Affine expressions, maps and integer sets.

The functions below build expressions and simplify them by MLIR's rules, so that they print as in MLIR.
"""

from __future__ import annotations

from enum import Enum
from math import gcd

from sdyopt.base.interning import Interned, derived_field, set_derived
from sdyopt.mlir.ir.attribute import Attribute

# The maximum depth of an expression, which allows functions on expressions to be recursive.
MAX_DEPTH = 200


class AffineOperator(Enum):
    """The binary operators of affine expressions; the value is the printed text."""

    ADD = "+"
    MULTIPLY = "*"
    MODULO = "mod"
    FLOOR_DIVIDE = "floordiv"
    CEIL_DIVIDE = "ceildiv"


class AffineExpr(Interned):
    """Base class of affine expressions.

    - `is_symbolic`: whether it contains no dimension.
    - `divisor`: the largest integer that is known to divide it; 0 for the constant 0.
    - `depth`: the nesting depth of its operators.
    - `size`: the number of operators in its text, where a shared subexpression counts each time.
    """

    @property
    def is_symbolic(self) -> bool:
        raise NotImplementedError

    @property
    def divisor(self) -> int:
        raise NotImplementedError

    @property
    def depth(self) -> int:
        raise NotImplementedError

    @property
    def size(self) -> int:
        raise NotImplementedError

    def constant_operand(self, operator: AffineOperator) -> AffineConstant | None:
        """The constant right operand of an expression with this operator; None for other expressions."""
        is_match = isinstance(self, AffineBinary) and self.operator is operator
        if is_match and isinstance(self, AffineBinary) and isinstance(self.rhs, AffineConstant):
            return self.rhs
        return None

    def factored(self) -> tuple[int, AffineExpr]:
        """An expression as (constant factor, remaining expression)."""
        factor = self.constant_operand(AffineOperator.MULTIPLY)
        return (1, self) if factor is None else (factor.value, _lhs(self))

    def as_modulo(self, rhs: AffineExpr) -> AffineExpr | None:
        """`lhs + rhs` as `lhs mod q`, if `rhs` is `(lhs floordiv q) * -q` or `(lhs floordiv q) * q * -1`."""
        if not isinstance(rhs, AffineBinary) or rhs.operator is not AffineOperator.MULTIPLY:
            return None
        inner, factor = rhs.lhs, rhs.rhs
        if (
            isinstance(factor, AffineConstant)
            and factor.value == -1
            and isinstance(inner, AffineBinary)
            and inner.operator is AffineOperator.MULTIPLY
        ):
            return self._remainder(inner.lhs, inner.rhs)
        return self._remainder(inner, negate(factor))

    def _remainder(self, quotient: AffineExpr, divisor: AffineExpr) -> AffineExpr | None:
        is_quotient = isinstance(quotient, AffineBinary) and quotient.operator is AffineOperator.FLOOR_DIVIDE
        if not is_quotient or not isinstance(quotient, AffineBinary):
            return None
        return modulo(self, divisor) if quotient.lhs is self and quotient.rhs is divisor else None


class AffineDim(AffineExpr):
    """`d0`: a dimension."""

    position: int
    is_symbolic = False
    divisor = 1
    depth = 0
    size = 0


class AffineSymbol(AffineExpr):
    """`s0`: a symbol."""

    position: int
    is_symbolic = True
    divisor = 1
    depth = 0
    size = 0


class AffineConstant(AffineExpr):
    """`42`: a signed 64-bit constant."""

    value: int
    is_symbolic = True
    divisor: int = derived_field()
    depth = 0
    size = 0

    def __post_init__(self) -> None:
        set_derived(self, divisor=abs(self.value))


class AffineBinary(AffineExpr):
    """`lhs operator rhs`. Built by `add`, `multiply` and so on, which simplify."""

    operator: AffineOperator
    lhs: AffineExpr
    rhs: AffineExpr
    is_symbolic: bool = derived_field()
    divisor: int = derived_field()
    depth: int = derived_field()
    size: int = derived_field()

    def __post_init__(self) -> None:
        lhs, rhs = self.lhs, self.rhs
        divisor = 1
        if self.operator is AffineOperator.MULTIPLY:
            divisor = lhs.divisor * rhs.divisor
        elif self.operator in (AffineOperator.ADD, AffineOperator.MODULO):
            divisor = gcd(lhs.divisor, rhs.divisor)
        elif isinstance(rhs, AffineConstant) and rhs.value and lhs.divisor % rhs.value == 0:
            divisor = abs(lhs.divisor // rhs.value)
        set_derived(
            self,
            is_symbolic=lhs.is_symbolic and rhs.is_symbolic,
            divisor=divisor,
            depth=1 + max(lhs.depth, rhs.depth),
            size=1 + lhs.size + rhs.size,
        )


class AffineMapAttr(Attribute):
    """`affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>`."""

    num_dims: int
    num_symbols: int
    results: tuple[AffineExpr, ...]

    @property
    def is_identity(self) -> bool:
        return self.num_dims == len(self.results) and all(
            isinstance(result, AffineDim) and result.position == position
            for position, result in enumerate(self.results)
        )


class IntegerSetAttr(Attribute):
    """`affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 0)>`.

    `constraints` are pairs of an expression and a flag: true for `expression == 0`, false for `>=`.
    """

    num_dims: int
    num_symbols: int
    constraints: tuple[tuple[AffineExpr, bool], ...]


def constant(value: int) -> AffineConstant:
    """The constant, wrapped to a signed 64-bit integer."""
    return AffineConstant(((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63))


def negate(expression: AffineExpr) -> AffineExpr:
    """`-expression`."""
    return multiply(expression, constant(-1))


def subtract(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs - rhs`."""
    return add(lhs, negate(rhs))


def add(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs + rhs`."""
    if isinstance(lhs, AffineConstant) and isinstance(rhs, AffineConstant):
        return constant(lhs.value + rhs.value)
    # Canonical order: a constant is on the right, and otherwise a symbolic expression.
    if isinstance(lhs, AffineConstant) or (lhs.is_symbolic and not rhs.is_symbolic):
        return add(rhs, lhs)
    if isinstance(rhs, AffineConstant) and rhs.value == 0:
        return lhs
    addend = lhs.constant_operand(AffineOperator.ADD)
    if addend is not None and isinstance(rhs, AffineConstant):
        return add(_lhs(lhs), constant(addend.value + rhs.value))
    (lhs_factor, lhs_rest), (rhs_factor, rhs_rest) = lhs.factored(), rhs.factored()
    if lhs_rest is rhs_rest:
        return multiply(lhs_rest, constant(lhs_factor + rhs_factor))
    if addend is not None:
        return add(add(_lhs(lhs), rhs), addend)
    return lhs.as_modulo(rhs) or AffineBinary(AffineOperator.ADD, lhs, rhs)


def multiply(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs * rhs`, one of which must be symbolic."""
    if isinstance(lhs, AffineConstant) and isinstance(rhs, AffineConstant):
        return constant(lhs.value * rhs.value)
    assert lhs.is_symbolic or rhs.is_symbolic
    if not rhs.is_symbolic or isinstance(lhs, AffineConstant):
        return multiply(rhs, lhs)
    if isinstance(rhs, AffineConstant) and rhs.value in (0, 1):
        return lhs if rhs.value else rhs
    factor = lhs.constant_operand(AffineOperator.MULTIPLY)
    if factor is not None and isinstance(rhs, AffineConstant):
        return multiply(_lhs(lhs), constant(factor.value * rhs.value))
    if factor is not None:
        return multiply(multiply(_lhs(lhs), rhs), factor)
    return AffineBinary(AffineOperator.MULTIPLY, lhs, rhs)


def floor_divide(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs floordiv rhs`. Only division by a positive constant is simplified."""
    plain = AffineBinary(AffineOperator.FLOOR_DIVIDE, lhs, rhs)
    if not isinstance(rhs, AffineConstant) or rhs.value < 1:
        return plain
    if isinstance(lhs, AffineConstant):
        return constant(lhs.value // rhs.value)
    if rhs.value == 1:
        return lhs
    factor = lhs.constant_operand(AffineOperator.MULTIPLY)
    if factor is not None and factor.value % rhs.value == 0:
        return multiply(_lhs(lhs), constant(factor.value // rhs.value))
    is_sum = isinstance(lhs, AffineBinary) and lhs.operator is AffineOperator.ADD
    if not is_sum or not isinstance(lhs, AffineBinary):
        return plain
    if lhs.lhs.divisor % rhs.value and lhs.rhs.divisor % rhs.value:
        return plain
    return add(floor_divide(lhs.lhs, rhs), floor_divide(lhs.rhs, rhs))


def ceil_divide(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs ceildiv rhs`. Only division by a positive constant is simplified."""
    plain = AffineBinary(AffineOperator.CEIL_DIVIDE, lhs, rhs)
    if not isinstance(rhs, AffineConstant) or rhs.value < 1:
        return plain
    if isinstance(lhs, AffineConstant):
        return constant(-(-lhs.value // rhs.value))
    if rhs.value == 1:
        return lhs
    factor = lhs.constant_operand(AffineOperator.MULTIPLY)
    if factor is not None and factor.value % rhs.value == 0:
        return multiply(_lhs(lhs), constant(factor.value // rhs.value))
    return plain


def modulo(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs mod rhs`. Only a remainder modulo a positive constant is simplified."""
    plain = AffineBinary(AffineOperator.MODULO, lhs, rhs)
    if not isinstance(rhs, AffineConstant) or rhs.value < 1:
        return plain
    if isinstance(lhs, AffineConstant):
        return constant(lhs.value % rhs.value)
    if lhs.divisor % rhs.value == 0:
        return constant(0)
    if not isinstance(lhs, AffineBinary):
        return plain
    if lhs.operator is AffineOperator.ADD:
        if lhs.lhs.divisor % rhs.value == 0:
            return modulo(lhs.rhs, rhs)
        if lhs.rhs.divisor % rhs.value == 0:
            return modulo(lhs.lhs, rhs)
    inner = lhs.constant_operand(AffineOperator.MODULO)
    if inner is not None and inner.value >= 1 and inner.value % rhs.value == 0:
        return modulo(lhs.lhs, rhs)
    return plain


def _lhs(expression: AffineExpr) -> AffineExpr:
    assert isinstance(expression, AffineBinary)
    return expression.lhs
