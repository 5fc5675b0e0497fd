"""Computations of elementwise operations of CHLO by element type; inverse functions of complex numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf, nan, pi

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.chlo import elementwise as chlo
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.ir.floats import Specials
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import BF16, F16, F32, F64, UI8, ComplexType, FloatType, IntegerType, Type

from . import special_functions
from .numbers import Number, atan2, complex_number, exp, expm1, log, log1p, maximum, minimum, sign, sqrt, wide


def square(z: Number) -> Number:
    """(x - y)(x + y) + 2xyi; the real part is exactly 0 where |x| = |y|."""
    x = z.real()
    is_finite = x.is_finite()
    size = abs(x)
    y = z.imag()
    is_equal = is_finite & size.equals(abs(y))
    zero = x.like(0.0)
    real = is_equal.select(zero, (x - y) * (x + y))
    return complex_number(real, x.like(2.0) * (x * y))


def acos(z: Number) -> Number:
    kernel = asin_acos_kernel(z)
    real = atan2(kernel.real(), z.real())
    y = z.imag()
    is_below = y < y.like(0.0)
    size = kernel.imag()
    return complex_number(real, is_below.select(size, -size))


def acosh(z: Number) -> Number:
    kernel = asin_acos_kernel(z)
    real = kernel.imag()
    y = z.imag()
    is_below = y < y.like(0.0)
    angle = atan2(kernel.real(), z.real())
    return complex_number(real, is_below.select(-angle, angle))


def asin(z: Number) -> Number:
    x = z.real()
    kernel = asin_acos_kernel(z)
    real = atan2(x, kernel.real())
    y = z.imag()
    is_below = y < x.like(0.0)
    size = kernel.imag()
    return complex_number(real, is_below.select(-size, size))


def atan(z: Number) -> Number:
    """-i atanh(iz)."""
    # The product of i and z.
    real = -z.imag()
    rotated = atanh(complex_number(real, z.real()))
    return complex_number(rotated.imag(), -rotated.real())


def atanh(z: Number) -> Number:
    """log1p(4|x| / ((1 - |x|)² + y²)) / 4 with the sign of x, and half the angle of (1 + z) / (1 - z).

    Where squares overflow, the quotient is 1 / |x|, or 1 / (|x| / y + y / |x|) / y.
    """
    signed = z.real()
    zero = signed.like(0.0)
    is_positive = signed >= zero
    one, minus_one = signed.like(1.0), signed.like(-1.0)
    sign = is_positive.select(one, minus_one)
    four = signed.like(4.0)
    x = abs(signed)
    limit = _atanh_limit(signed)
    limit_square = limit * limit
    is_x_small = x < limit_square
    y = z.imag()
    y_size = abs(y)
    is_small = is_x_small & (y_size < limit_square)
    below_one = one - x
    below_one_square = below_one * below_one
    y_square = y * y
    quotient = x / (below_one_square + y_square)
    is_wide = (y_size * limit) < x
    inverse = one / x
    infinity = signed.like(inf)
    is_x_infinite = signed.equals(infinity)
    minus_infinity = signed.like(-inf)
    is_x_infinite = is_x_infinite | signed.equals(minus_infinity)
    is_infinite = is_x_infinite | (y.equals(infinity) | y.equals(minus_infinity))
    ratio = x / y
    balanced = one / (ratio + y / x) / y
    large = is_wide.select(inverse, is_infinite.select(zero, balanced))
    real = sign * log1p(four * is_small.select(quotient, large)) * signed.like(0.25)
    doubled = y + y
    angle = atan2(doubled, below_one * (one + x) - y_square)
    is_above = y >= y.like(0.0)
    half_turn = is_above.select(one, minus_one) * signed.like(pi)
    return complex_number(real, is_small.select(angle, half_turn) * signed.like(0.5))


def _atanh_limit(like: Number) -> Number:
    """The square root of about the largest number that added to a number of this type is not lost."""
    largest = like.largest()
    is_double = largest > like.like(1e308)
    double = like.like(2.0**53 + 2)
    is_single = largest > like.like(1e38)
    single = like.like(2.0**24 + 2)
    return is_double.select(double, is_single.select(single, like.like(2050.0)))


def asinh(z: Number) -> Number:
    """i asin(-iz), whose real part has the sign of x."""
    x = z.real()
    is_below = x < x.like(0.0)
    y = z.imag()
    kernel = asin_acos_kernel(complex_number(-y, x))
    size = kernel.imag()
    real = is_below.select(-size, size)
    return complex_number(real, atan2(y, kernel.real()))


def asin_acos_kernel(z: Number) -> Number:
    """The denominator of the angle, and the imaginary part, of asin(z), for |x| and |y|.

    After Hull, Fairgrieve and Tang: r and s are the distances of z from -1 and 1, and a is half their sum.
    """
    signed = z.real()
    x = abs(signed)
    signed_y = z.imag()
    y = abs(signed_y)
    larger = maximum(x, y)
    root = sqrt(signed.largest())
    safe = root / signed.like(8.0)
    is_large = larger >= safe
    one = signed.like(1.0)
    is_x_small = x <= one
    half = signed.like(0.5)
    above = x + one
    r, constants = _hypotenuse(above, y, one, signed)
    below = x - one
    s, _ = _hypotenuse(below, y, one, signed, constants)
    _, zero, two = constants
    a = half * (r + s)
    half_sum = half * (a + x)
    y_square = y * y
    r_above = r + above
    quotient = y_square / r_above
    s_below = s - below
    small = sqrt(half_sum * (quotient + s_below))
    first = half_sum / r_above
    s_above = s + below
    wide = y * sqrt(first + half_sum / s_above)
    real = is_large.select(y, is_x_small.select(small, wide))

    is_moderate = x < safe * signed.like(1e12)
    low = safe * signed.like(1e-6)
    limit = is_moderate.select(low, safe * signed.like(1e2))
    is_y_large = y >= limit
    dominant = is_y_large.select(y, x)
    is_far = dominant >= is_y_large.select(limit, safe)
    log_two = log(two)
    log_far = log_two + log(dominant)
    is_y_finite = ~y.equals(signed_y.like(inf))
    ratio = (is_y_large & is_y_finite).select(x / y, zero)
    far = log_far + half * log1p(ratio * ratio)

    tiny = sqrt(signed.smallest_normalized()) * signed.like(4.0)
    is_y_tiny = y < tiny
    is_on_cut = is_y_tiny & (x < one)
    product = above * below
    a_above = a + one
    near = -(product / a_above)
    is_x_large = x >= one
    half_square = half * y_square
    share = half_square / r_above
    outside = share + half * s_above
    is_a_small = a <= signed.like(1.5)
    inside = share + half_square / s_below
    inside = is_a_small.select(inside, a - one)
    a_below = is_on_cut.select(near, is_x_large.select(outside, inside))
    root = sqrt(a_below * a_above)
    quotient = y / root
    close = is_on_cut.select(quotient, log1p(a_below + root))
    return complex_number(real, is_far.select(far, close))


def _hypotenuse(
    x: Number, y: Number, one: Number, like: Number, constants: tuple[Number, Number, Number] | None = None
) -> tuple[Number, tuple[Number, Number, Number]]:
    """The square root of x² + y² without overflow, and the constants √2, 0 and 2, created unless given."""
    size = abs(x)
    larger, smaller = maximum(size, y), minimum(size, y)
    is_equal = larger.equals(smaller)
    root_of_two = like.like(math.sqrt(2.0)) if constants is None else constants[0]
    diagonal = root_of_two * larger
    ratio = smaller / larger
    ratio_square = ratio * ratio
    root = sqrt(one + ratio_square)
    is_root_one = root.equals(one)
    zero = like.like(0.0) if constants is None else constants[1]
    is_ratio_small = is_root_one & (ratio_square > zero)
    correction = larger * ratio_square
    two = like.like(2.0) if constants is None else constants[2]
    corrected = larger + correction / two
    general = is_ratio_small.select(corrected, larger * root)
    return is_equal.select(diagonal, general), (root_of_two, zero, two)


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
    chlo.AcosOp: Decomposition(lambda x: atan2(_root_of_square_difference(x), x), acos),
    chlo.AcoshOp: Decomposition(_acosh, acosh),
    chlo.AsinAcosKernelOp: Decomposition(None, asin_acos_kernel),
    chlo.AsinOp: Decomposition(lambda x: atan2(x, _root_of_square_difference(x)), asin),
    chlo.AsinhOp: Decomposition(_asinh, asinh),
    chlo.AtanOp: Decomposition(lambda x: atan2(x, x.like(1.0)), atan),
    chlo.AtanhOp: Decomposition(_atanh, atanh, accepts=_has_specials),
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
    chlo.SquareOp: Decomposition(lambda x: x * x, square),
    chlo.TanOp: Decomposition(lambda x: x(hlo.TanOp), lambda x: x(hlo.TanOp)),
    chlo.ZetaOp: Decomposition(special_functions.zeta),
}
