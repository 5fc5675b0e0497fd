"""Conversion between the bits of floats and decimal text."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdyopt.mlir.ir.floats import (
    FLOAT_FORMATS,
    Specials,
    decode,
    encode,
    encode_double,
    extreme_bits,
    float_text,
    nan_bits,
)

SMALL = sorted(name for name, format in FLOAT_FORMATS.items() if format.width <= 8)


@pytest.mark.parametrize(
    ("name", "text", "printed"),
    [
        ("f64", "1.0", "1.000000e+00"),
        ("f64", "0.6", "6.000000e-01"),
        ("f64", "1.0e-6", "9.9999999999999995E-7"),
        ("f64", "-0.0", "-0.000000e+00"),
        ("f64", "1234567.0", "0x4132D68700000000"),
        ("f64", "1.0e400", "0x7FF0000000000000"),
        ("f64", "4.9e-324", "4.940660e-324"),
        ("f32", "0.1", "1.000000e-01"),
        ("f32", "123456789.0", "0x4CEB79A3"),
        ("f32", "1.0e-6", "9.99999997E-7"),
        ("f32", "-1.0e40", "0xFF800000"),
        ("f16", "0.3", "3.000490e-01"),
        ("bf16", "1.0e-40", "9.183550e-41"),
        ("tf32", "1.0e9", "9.998170e+08"),
        ("f80", "0.1", "0.100000000000000005551"),
        ("f128", "3.0e38", "3.00000000000000012135895401846682943E+38"),
        ("f8E5M2", "1.0e9", "0x7C"),
        ("f8E4M3FN", "464.0", "4.480000e+02"),
        ("f8E4M3FN", "465.0", "0x7F"),
        ("f8E4M3FNUZ", "-0.0", "0.000000e+00"),
        ("f8E4M3FNUZ", "-1.0e9", "0x80"),
        ("f8E3M4", "0.3", "2.968750e-01"),
        ("f8E8M0FNU", "1.5", "2.000000e+00"),
        ("f8E8M0FNU", "0.0", "5.877470e-39"),
        ("f4E2M1FN", "-1.0e9", "-6.000000e+00"),
        ("f6E3M2FN", "0.3", "3.125000e-01"),
    ],
)
def test_decimal_numbers_print_as_in_the_reference(name: str, text: str, printed: str) -> None:
    format = FLOAT_FORMATS[name]
    assert float_text(encode_double(float(text), format), format) == printed


@pytest.mark.parametrize("name", SMALL)
def test_encoding_inverts_decoding_for_every_number_of_a_small_format(name: str) -> None:
    format = FLOAT_FORMATS[name]
    for bits in range(1 << format.width):
        number = decode(bits, format)
        if number is not None:
            denominator = 1 << max(-number.exponent, 0)
            numerator = number.significand << max(number.exponent, 0)
            assert encode(number.is_negative, numerator, denominator, format) == bits


@given(st.floats(allow_nan=False), st.sampled_from(["f16", "f32", "f64"]))
def test_exact_rounding_equals_native_rounding(value: float, name: str) -> None:
    format = FLOAT_FORMATS[name]
    if abs(value) == float("inf"):
        return
    is_negative = struct.pack("<d", value)[7] >> 7 == 1
    exact = encode(is_negative, *abs(value).as_integer_ratio(), format)
    assert exact == encode_double(value, format)


@given(st.sampled_from(["f32", "f64", "bf16", "f16", "f8E5M2"]), st.data())
def test_text_round_trips(name: str, data: st.DataObject) -> None:
    format = FLOAT_FORMATS[name]
    bits = data.draw(st.integers(0, (1 << format.width) - 1))
    text = float_text(bits, format)
    assert (int(text, 16) if "x" in text else encode_double(float(text), format)) == bits


@pytest.mark.parametrize("name", SMALL)
def test_no_number_of_a_small_format_is_beyond_the_extremes(name: str) -> None:
    format = FLOAT_FORMATS[name]
    numbers = {bits: decode(bits, format) for bits in range(1 << format.width)}
    values = {
        bits: (-1 if number.is_negative else 1) * number.significand * 2.0**number.exponent
        for bits, number in numbers.items()
        if number is not None
    }
    for is_negative, extreme in ((True, min(values.values())), (False, max(values.values()))):
        bits = extreme_bits(is_negative, format)
        assert bits in values or format.specials is Specials.IEEE
        if format.specials is Specials.IEEE:
            assert bits == encode_double(float("-inf" if is_negative else "inf"), format)
        else:
            assert values[bits] == extreme


@pytest.mark.parametrize(
    ("name", "bits"), [("f32", 0x7FC00000), ("f16", 0x7E00), ("bf16", 0x7FC0), ("f80", 0x7FFFC << 60)]
)
def test_bits_of_nan(name: str, bits: int) -> None:
    assert nan_bits(FLOAT_FORMATS[name]) == bits
    assert decode(bits, FLOAT_FORMATS[name]) is None
