"""Floating point formats: what the bits of each of MLIR's float types mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Specials(Enum):
    """Which bit patterns are not finite numbers."""

    IEEE = "infinities and NaNs have the largest exponent"
    NAN_ALL_ONES = "no infinity; NaN is all ones, of either sign"
    NAN_NEGATIVE_ZERO = "no infinity; NaN takes the place of -0"
    FINITE_ONLY = "neither infinity nor NaN"


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """How many bits a float type has for what."""

    exponent_bits: int
    mantissa_bits: int  # without the leading one, be it stored or implied
    specials: Specials = Specials.IEEE
    bias_shift: int = 0  # how much larger the bias is than IEEE's
    is_signed: bool = True
    has_explicit_one: bool = False  # f80 stores the leading one

    @property
    def width(self) -> int:
        return self.is_signed + self.exponent_bits + self.has_explicit_one + self.mantissa_bits

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1 + self.bias_shift


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
