"""Floating-point formats: exact conversion between the bits of MLIR's float types, numbers and text.

Conversions compute with integers, or use `struct` for the formats that it has. `encode` rounds to nearest,
ties to even, with the overflow behavior of each format; `float_text` returns the text that MLIR prints.
"""

from __future__ import annotations

import struct
from enum import Enum
from math import inf, ldexp, nan

from sdyopt.base.dataclasses import NamedTuple, dataclass


class Specials(Enum):
    """The bit patterns of a format that are not finite numbers."""

    IEEE = "infinities and NaNs have the largest exponent"
    NAN_ALL_ONES = "no infinity; NaN is all ones, of either sign"
    NAN_NEGATIVE_ZERO = "no infinity; NaN is the bit pattern of -0"
    FINITE_ONLY = "neither infinity nor NaN"


@dataclass(frozen=True, eq=False, slots=True)
class FloatFormat:
    """The bit layout of a float type."""

    exponent_bits: int
    mantissa_bits: int  # without the leading one, stored or implied
    specials: Specials = Specials.IEEE
    bias_shift: int = 0  # added to the IEEE bias
    is_signed: bool = True
    has_explicit_one: bool = False  # f80 stores the leading one

    @property
    def width(self) -> int:
        return self.is_signed + self.exponent_bits + self.has_explicit_one + self.mantissa_bits

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1 + self.bias_shift

    @property
    def precision(self) -> int:
        """The number of significant bits."""
        return self.mantissa_bits + 1

    @property
    def has_zero(self) -> bool:
        """Whether exponent 0 encodes zero and subnormal numbers; not so in `f8E8M0FNU`."""
        return self.is_signed

    @property
    def smallest_exponent(self) -> int:
        """The exponent of the smallest normal number."""
        return self.has_zero - self.bias

    @property
    def finite_limit(self) -> int:
        """The exponent and mantissa bits of finite numbers are less than this."""
        ones = (1 << (self.exponent_bits + self.mantissa_bits)) - 1
        if self.specials is Specials.IEEE:
            return ones ^ ((1 << self.mantissa_bits) - 1)
        return ones if self.specials is Specials.NAN_ALL_ONES else ones + 1


FLOAT_FORMATS: dict[str, FloatFormat] = {
    "f4E2M1FN": FloatFormat(2, 1, Specials.FINITE_ONLY),
    "f6E2M3FN": FloatFormat(2, 3, Specials.FINITE_ONLY),
    "f6E3M2FN": FloatFormat(3, 2, Specials.FINITE_ONLY),
    "f8E5M2": FloatFormat(5, 2),
    "f8E4M3": FloatFormat(4, 3),
    "f8E4M3FN": FloatFormat(4, 3, Specials.NAN_ALL_ONES),
    "f8E5M2FNUZ": FloatFormat(5, 2, Specials.NAN_NEGATIVE_ZERO, bias_shift=1),
    "f8E4M3FNUZ": FloatFormat(4, 3, Specials.NAN_NEGATIVE_ZERO, bias_shift=1),
    "f8E4M3B11FNUZ": FloatFormat(4, 3, Specials.NAN_NEGATIVE_ZERO, bias_shift=4),
    "f8E3M4": FloatFormat(3, 4),
    "f8E8M0FNU": FloatFormat(8, 0, Specials.NAN_ALL_ONES, is_signed=False),
    "bf16": FloatFormat(8, 7),
    "f16": FloatFormat(5, 10),
    "tf32": FloatFormat(8, 10),
    "f32": FloatFormat(8, 23),
    "f64": FloatFormat(11, 52),
    "f80": FloatFormat(15, 63, has_explicit_one=True),
    "f128": FloatFormat(15, 112),
}

# The `struct` format characters of the formats that Python converts natively.
_NATIVE = {FLOAT_FORMATS["f16"]: "<e", FLOAT_FORMATS["f32"]: "<f", FLOAT_FORMATS["f64"]: "<d"}


class Finite(NamedTuple):
    """The number `significand * 2**exponent`, negated if `is_negative`."""

    is_negative: bool
    significand: int
    exponent: int

    def decimal(self, precision: int) -> tuple[str, int]:
        """The leading decimal digits of a number, and the power of ten of the last digit.

        Rounds as LLVM does, which truncates most of the excess digits before it rounds half up.
        """
        significand, exponent = self.significand, self.exponent
        zeros = (significand & -significand).bit_length() - 1
        significand, exponent = significand >> zeros, exponent + zeros
        if exponent > 0:
            significand, exponent = significand << exponent, 0
        elif exponent < 0:
            significand *= 5**-exponent
        if (excess := significand.bit_length() - (precision * 196 + 58) // 59) > 0:
            tens = excess * 59 // 196
            significand, exponent = significand // 10**tens, exponent + tens
        digits = str(significand)
        if (excess := len(digits) - precision) > 0:
            exponent += excess
            rounded = int(digits[:precision]) + (digits[precision] >= "5")
            digits = str(rounded)
        shorter = digits.rstrip("0")
        return shorter, exponent + len(digits) - len(shorter)


def decode(bits: int, format: FloatFormat) -> Finite | None:
    """The number that these bits encode; None for infinities and NaNs."""
    magnitude_bits = format.exponent_bits + format.mantissa_bits
    # The sign in an unsigned format is in the bit above its width; see `_signed`.
    is_negative = bool(bits >> (magnitude_bits + format.has_explicit_one))
    magnitude = bits & ((1 << magnitude_bits) - 1)
    if format.has_explicit_one:
        exponent = bits >> (format.mantissa_bits + 1) & ((1 << format.exponent_bits) - 1)
        magnitude = exponent << format.mantissa_bits | bits & ((1 << format.mantissa_bits) - 1)
    if magnitude >= format.finite_limit:
        return None
    if format.specials is Specials.NAN_NEGATIVE_ZERO and is_negative and not magnitude:
        return None
    exponent = magnitude >> format.mantissa_bits
    significand = magnitude & ((1 << format.mantissa_bits) - 1)
    if exponent or not format.has_zero:
        significand |= 1 << format.mantissa_bits
    exponent = max(exponent, int(format.has_zero)) - format.bias - format.mantissa_bits
    return Finite(is_negative, significand, exponent)


def float_value(bits: int, format: FloatFormat) -> float:
    """The double nearest to the number that these bits encode in this format."""
    number = decode(bits, format)
    if number is None:
        infinities = (inf, -inf) if format.specials is Specials.IEEE else ()
        return next((value for value in infinities if encode_double(value, format) == bits), nan)
    sign = -1 if number.is_negative else 1
    try:
        return sign * ldexp(number.significand, number.exponent)
    except OverflowError:
        return sign * inf


def encode(is_negative: bool, numerator: int, denominator: int, format: FloatFormat) -> int:
    """The bits of `numerator / denominator`, negated if `is_negative`, rounded to this format."""
    magnitude = _nearest_magnitude(numerator, denominator, format) if numerator else 0
    if magnitude >= format.finite_limit:
        return _overflowed(is_negative, format)
    if format.specials is Specials.NAN_NEGATIVE_ZERO and not magnitude:
        return 0
    if not format.has_zero and not numerator:
        return 0
    return _signed(is_negative, magnitude, format)


def encode_double(value: float, format: FloatFormat) -> int:
    """The bits of a double, which must not be NaN, rounded to this format."""
    if (letter := _NATIVE.get(format)) is not None:
        try:
            return int.from_bytes(struct.pack(letter, value), "little")
        except OverflowError:
            return _overflowed(value < 0, format)
    sign, magnitude = struct.pack("<d", value)[7] >> 7, abs(value)
    if magnitude == float("inf"):
        return _overflowed(bool(sign), format)
    return encode(bool(sign), *magnitude.as_integer_ratio(), format)


def extreme_bits(is_negative: bool, format: FloatFormat) -> int:
    """The bits of the infinity of this sign or, in a format without infinities, of the finite extreme.

    In an unsigned format, the negative extreme is the smallest number.
    """
    if not format.is_signed:
        return 0 if is_negative else format.finite_limit - 1
    if format.specials is Specials.IEEE:
        return encode_double(-inf if is_negative else inf, format)
    return _signed(is_negative, format.finite_limit - 1, format)


def nan_bits(format: FloatFormat) -> int:
    """The bits of a quiet NaN of a format that has one."""
    assert format.specials is not Specials.FINITE_ONLY
    if format.specials is Specials.NAN_NEGATIVE_ZERO:
        return 1 << (format.width - 1)
    if format.specials is Specials.NAN_ALL_ONES:
        return (1 << (format.exponent_bits + format.mantissa_bits)) - 1
    exponent = (1 << format.exponent_bits) - 1
    return _signed(False, exponent << format.mantissa_bits | 1 << (format.mantissa_bits - 1), format)


def float_text(bits: int, format: FloatFormat) -> str:
    """The text of a number.

    Six significant digits if these parse to the same bits, otherwise as many as the format needs. Infinities,
    NaNs, and numbers whose digits would have no decimal point are printed as hexadecimal bits.
    """
    number = decode(bits, format)
    if number is None:
        return f"0x{bits:X}"
    sign = "-" if number.is_negative else ""
    if not number.significand:
        return sign + "0.000000e+00"
    digits, exponent = number.decimal(6)
    leading = exponent + len(digits) - 1
    text = f"{sign}{digits[0]}.{digits[1:]:0<6}e{'-' if leading < 0 else '+'}{abs(leading):02}"
    # Most numbers need either at most three digits or more than six.
    if _is_near(float(text), bits, format) and (
        _encode_decimal(number.is_negative, int(digits), exponent, format) == bits
    ):
        return text
    digits, exponent = number.decimal(2 + format.precision * 59 // 196)
    text = sign + _natural_text(digits, exponent, 2 + format.precision * 59 // 196)
    return text if "." in text else f"0x{bits:X}"


def _is_near(value: float, bits: int, format: FloatFormat) -> bool:
    """Whether the value, rounded to the format, may have these bits, or those of a neighbor."""
    if format not in _NATIVE:
        return True
    return abs(encode_double(value, format) - bits) <= 1


def _nearest_magnitude(numerator: int, denominator: int, format: FloatFormat) -> int:
    """The exponent and mantissa bits of the rounded fraction, with no upper limit on the exponent."""
    exponent = numerator.bit_length() - denominator.bit_length()
    if numerator << max(-exponent, 0) < denominator << max(exponent, 0):
        exponent -= 1
    exponent = max(exponent, format.smallest_exponent)
    shift = exponent - format.mantissa_bits
    significand, rest = divmod(numerator << max(-shift, 0), denominator << max(shift, 0))
    twice = 2 * rest - (denominator << max(shift, 0))
    if twice > 0 or (twice == 0 and significand & 1):
        significand += 1
    biased = exponent + format.bias
    if not format.has_zero:
        return biased + significand - 1 if significand else 0
    # Adding the leading one of a normal number, or a carry, increments the exponent.
    return ((biased - 1) << format.mantissa_bits) + significand


def _overflowed(is_negative: bool, format: FloatFormat) -> int:
    if format.specials is Specials.NAN_NEGATIVE_ZERO:
        return 1 << (format.width - 1)
    if format.specials is Specials.FINITE_ONLY:
        return _signed(is_negative, format.finite_limit - 1, format)
    if not format.is_signed:
        return format.finite_limit
    return _signed(is_negative, format.finite_limit, format)


def _signed(is_negative: bool, magnitude: int, format: FloatFormat) -> int:
    """The bits of a number with this sign.

    As in LLVM, a scalar of an unsigned format has a sign, though the format has no bit for it; it is in the
    bit above the format's width.
    """
    if format.has_explicit_one:
        exponent = magnitude >> format.mantissa_bits
        fraction = magnitude & ((1 << format.mantissa_bits) - 1)
        magnitude = (exponent << 1 | (exponent > 0)) << format.mantissa_bits | fraction
    sign_bit = format.exponent_bits + format.has_explicit_one + format.mantissa_bits
    return is_negative << sign_bit | magnitude


def _encode_decimal(is_negative: bool, digits: int, exponent: int, format: FloatFormat) -> int:
    return encode(is_negative, digits * 10 ** max(exponent, 0), 10 ** max(-exponent, 0), format)


def _natural_text(digits: str, exponent: int, precision: int) -> str:
    """Positional notation if it has at most three padding zeros and an integer at most `precision` digits.

    Otherwise scientific notation.
    """
    leading = exponent + len(digits) - 1
    has_much_padding = -leading > 3 if exponent < 0 else exponent > 3 or len(digits) + exponent > precision
    if has_much_padding:
        return f"{digits[0]}.{digits[1:] or '0'}E{'-' if leading < 0 else '+'}{abs(leading)}"
    if exponent >= 0:
        return digits + "0" * exponent
    if leading >= 0:
        return f"{digits[: leading + 1]}.{digits[leading + 1 :]}"
    return f"0.{'0' * (-leading - 1)}{digits}"
