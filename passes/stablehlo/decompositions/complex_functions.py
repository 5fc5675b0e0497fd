"""Inverse trigonometric and hyperbolic functions of complex numbers, without overflow and cancellation."""

from __future__ import annotations

from math import inf, pi, sqrt

from .numbers import Number, atan2, complex_number, log, log1p, maximum, minimum
from .numbers import sqrt as square_root


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
    root = square_root(signed.largest())
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
    small = square_root(half_sum * (quotient + s_below))
    first = half_sum / r_above
    s_above = s + below
    wide = y * square_root(first + half_sum / s_above)
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

    tiny = square_root(signed.smallest_normalized()) * signed.like(4.0)
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
    root = square_root(a_below * a_above)
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
    root_of_two = like.like(sqrt(2.0)) if constants is None else constants[0]
    diagonal = root_of_two * larger
    ratio = smaller / larger
    ratio_square = ratio * ratio
    root = square_root(one + ratio_square)
    is_root_one = root.equals(one)
    zero = like.like(0.0) if constants is None else constants[1]
    is_ratio_small = is_root_one & (ratio_square > zero)
    correction = larger * ratio_square
    two = like.like(2.0) if constants is None else constants[2]
    corrected = larger + correction / two
    general = is_ratio_small.select(corrected, larger * root)
    return is_equal.select(diagonal, general), (root_of_two, zero, two)
