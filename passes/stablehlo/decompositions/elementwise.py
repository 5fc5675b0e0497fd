"""The computations of elementwise operations of CHLO, and the element types that they are for."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.chlo import elementwise as chlo
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.ir.floats import Specials
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import BF16, F16, F32, F64, UI8, ComplexType, FloatType, IntegerType, Type

from . import complex_functions, special_functions
from .numbers import Number, atan2, complex_number, exp, expm1, log, log1p, sign, sqrt, wide


@dataclass(frozen=True)
class Decomposition:
    """The computations of real and of complex numbers, if any, and the element types of the first."""

    real: Callable[..., Number] | None
    complex: Callable[..., Number] | None = None
    accepts: Callable[[Type], bool] = lambda element: isinstance(element, FloatType)

    def for_element(self, element: Type) -> Callable[..., Number] | None:
        """The computation for an element type; None if there is none."""
        if isinstance(element, ComplexType):
            return self.complex
        return self.real if self.accepts(element) else None


# --- Inverse and hyperbolic functions -------------------------------------------------------


def _root_of_square_difference(x: Number) -> Number:
    """The square root of 1 - x², as a product, which is more exact near 1."""
    one = x.like(1.0)
    return sqrt((one - x) * (one + x))


def _acosh(x: Number) -> Number:
    """log(2) + log(x) where x² would overflow; log1p(√(x-1) (√(x+1) + √(x-1))) elsewhere."""
    largest = x.largest()
    two = x.like(2.0)
    is_large = x >= largest / two
    log_two = log(two)
    large = log_two + log(x)
    one = x.like(1.0)
    below = sqrt(x - one)
    above = sqrt(x + one)
    return is_large.select(large, log1p(below * (above + below)))


def _asinh(x: Number) -> Number:
    """With the sign of x: log(2) + log|x| where x² would overflow, else log1p(|x| + x² / (1 + √(1+x²)))."""
    sign_of_x, size = sign(x), abs(x)
    is_large = size >= sqrt(x.largest())
    log_two = log(x.like(2.0))
    large = log_two + log(size)
    square = size * size
    one = x.like(1.0)
    root = sqrt(one + square)
    sum = size + square / (one + root)
    return sign_of_x * is_large.select(large, log1p(sum))


def _atanh(x: Number) -> Number:
    """(log1p(x) - log1p(-x)) / 2; NaN outside of [-1, 1]."""
    is_outside = abs(x) > x.like(1.0)
    not_a_number = x.like(nan)
    plus = log1p(x)
    difference = plus - log1p(-x)
    return is_outside.select(not_a_number, difference * x.like(0.5))


def _halved_exponentials(x: Number) -> tuple[Number, Number]:
    """exp(x) / 2 and exp(-x) / 2, which do not overflow before the sum does."""
    log_half = log(x.like(0.5))
    plus = exp(x + log_half)
    return plus, exp(log_half - x)


def _cosh(x: Number) -> Number:
    plus, minus = _halved_exponentials(x)
    return plus + minus


def _complex_sinh(x: Number) -> Number:
    plus, minus = _halved_exponentials(x)
    return plus - minus


def _sinh(x: Number) -> Number:
    """The difference of exponentials; where |x| < 1, (e + e / (e + 1)) / 2 with e = expm1(x)."""
    large = _complex_sinh(x)
    e = expm1(x)
    one, half = x.like(1.0), x.like(0.5)
    small = half * (e + e / (e + one))
    return (abs(x) < one).select(small, large)


# --- Simple functions -----------------------------------------------------------------------


def _conj(x: Number) -> Number:
    real = x.real()
    return complex_number(real, -x.imag())


def _next_after(x: Number, y: Number) -> Number:
    """The neighbour of x in the direction of y, whose bits, read as an integer, are one more or one less."""
    width = x.format.width
    integer = IntegerType(width)
    x_bits, y_bits = x.bits_as(integer), y.bits_as(integer)
    x_is_nan = x.differs(x)
    is_nan = x_is_nan | y.differs(y)
    nan_bits = x.like(nan).bits_as(integer)
    sign_mask = x_bits.like(1 << (width - 1))
    size_mask = x_bits.like((1 << (width - 1)) - 1)
    x_size, y_size = x_bits & size_mask, y_bits & size_mask
    are_equal = x.equals(y)
    zero = x_bits.like(0)
    x_is_zero, y_is_zero = x_size.equals(zero), y_size.equals(zero)
    x_sign, y_sign = x_bits & sign_mask, y_bits & sign_mask
    one = x_bits.like(1)
    smallest = y_sign | one
    signs_differ = x_sign.differs(y_sign)
    shrinks = (x_size > y_size) | signs_differ
    step = shrinks.select(x_bits.like(-1), one)
    moved = x_bits + step
    from_zero = y_is_zero.select(y_bits, smallest)
    result = are_equal.select(y_bits, x_is_zero.select(from_zero, moved))
    return is_nan.select(nan_bits, result).bits_as(x.tensor_type.element)


# --- Products of integers -------------------------------------------------------------------


def _mulhi(x: Number, y: Number) -> Number:
    """The upper half of the bits of a product."""
    element = x.tensor_type.element
    assert isinstance(element, IntegerType)
    if element.width < 64:
        wide_element = IntegerType(2 * element.width, element.signedness)
        left = x.convert(wide_element)
        product = left * y.convert(wide_element)
        shift = hlo.ShiftRightLogicalOp if element.is_unsigned else hlo.ShiftRightArithmeticOp
        return product(shift, product.like(element.width)).convert(element)
    if element.is_unsigned:
        return _unsigned_mulhi(x, y)
    return _signed_mulhi(x, y)


def _unsigned_mulhi(x: Number, y: Number) -> Number:
    """The sum of the products of halves, with their carries."""
    x_high, y_high = _upper(x), _upper(y)
    upper = x_high * y_high
    x_low = x & x.like(_LOW)
    crossed = x_low * y_high
    y_low = y & y.like(_LOW)
    middle = crossed + _upper(x_low * y_low, x)
    upper = upper + _upper(middle, x)
    other = x_high * y_low
    return upper + _upper(other + (middle & x.like(_LOW)), x)


def _signed_mulhi(x: Number, y: Number) -> Number:
    """The product of the numbers as unsigned ones, less what the signs add to it."""
    unsigned = IntegerType(64, _UNSIGNED)
    left = x.convert(unsigned)
    product = _unsigned_mulhi(left, y.convert(unsigned))
    for one, other in ((x, y), (y, x)):
        is_negative = one < one.like(0)
        excess = other.convert(unsigned)
        product = product - is_negative.select(excess, other.convert(unsigned).like(0))
    return product.convert(x.tensor_type.element)


def _upper(x: Number, like: Number | None = None) -> Number:
    return x(hlo.ShiftRightLogicalOp, (like or x).like(32))


_LOW = 0xFFFFFFFF
_UNSIGNED = UI8.signedness


def _has_specials(element: Type) -> bool:
    """Whether there are infinities or NaNs of a float type."""
    return isinstance(element, FloatType) and element.format.specials is not Specials.FINITE_ONLY


def _is_wide_enough(element: Type) -> bool:
    return element in (F16, BF16, F32, F64)


ELEMENTWISE: dict[type[Op], Decomposition] = {
    chlo.AcosOp: Decomposition(lambda x: atan2(_root_of_square_difference(x), x), complex_functions.acos),
    chlo.AcoshOp: Decomposition(_acosh, complex_functions.acosh),
    chlo.AsinAcosKernelOp: Decomposition(None, complex_functions.asin_acos_kernel),
    chlo.AsinOp: Decomposition(lambda x: atan2(x, _root_of_square_difference(x)), complex_functions.asin),
    chlo.AsinhOp: Decomposition(_asinh, complex_functions.asinh),
    chlo.AtanOp: Decomposition(lambda x: atan2(x, x.like(1.0)), complex_functions.atan),
    chlo.AtanhOp: Decomposition(_atanh, complex_functions.atanh, accepts=_has_specials),
    chlo.BesselI1eOp: Decomposition(special_functions.bessel_i1e, accepts=_is_wide_enough),
    chlo.ConjOp: Decomposition(lambda x: x, _conj, accepts=lambda element: True),
    chlo.CoshOp: Decomposition(wide(_cosh), _cosh),
    chlo.DigammaOp: Decomposition(special_functions.digamma),
    chlo.ErfInvOp: Decomposition(special_functions.erf_inv),
    chlo.ErfOp: Decomposition(special_functions.erf, accepts=_is_wide_enough),
    chlo.ErfcOp: Decomposition(special_functions.erfc, accepts=_is_wide_enough),
    chlo.IsInfOp: Decomposition(lambda x: abs(x).equals(inf), accepts=_has_specials),
    chlo.IsNegInfOp: Decomposition(lambda x: x.equals(-inf), accepts=_has_specials),
    chlo.IsPosInfOp: Decomposition(lambda x: x.equals(inf), accepts=_has_specials),
    chlo.LgammaOp: Decomposition(special_functions.lgamma),
    chlo.MulhiOp: Decomposition(_mulhi, accepts=lambda element: isinstance(element, IntegerType)),
    chlo.NextAfterOp: Decomposition(_next_after, accepts=_has_specials),
    chlo.PolygammaOp: Decomposition(special_functions.polygamma),
    chlo.SinhOp: Decomposition(wide(_sinh), _complex_sinh),
    chlo.SquareOp: Decomposition(lambda x: x * x, complex_functions.square),
    chlo.TanOp: Decomposition(lambda x: x(hlo.TanOp), lambda x: x(hlo.TanOp)),
    chlo.ZetaOp: Decomposition(special_functions.zeta),
}
