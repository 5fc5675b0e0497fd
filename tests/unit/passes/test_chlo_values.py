"""The decompositions of CHLO compute what Python's functions do, in f64."""

import cmath
import math
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import sdyopt

UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "cosine": math.cos,
    "floor": math.floor,
    "imag": lambda x: x.imag,
    "is_finite": math.isfinite,
    "log_plus_one": math.log1p,
    "exponential": math.exp,
    "exponential_minus_one": math.expm1,
    "negate": lambda x: -x,
    "not": lambda x: not x,
    "real": lambda x: x.real,
    "sign": lambda x: math.copysign(1.0, x) if x else x,
    "sine": math.sin,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "and": lambda x, y: x and y,
    "atan2": math.atan2,
    "complex": complex,
    "maximum": max,
    "minimum": min,
    "multiply": lambda x, y: x * y,
    "or": lambda x, y: x or y,
    "power": math.pow,
    "remainder": math.fmod,
    "subtract": lambda x, y: x - y,
}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "EQ": lambda x, y: x == y,
    "GE": lambda x, y: x >= y,
    "GT": lambda x, y: x > y,
    "LE": lambda x, y: x <= y,
    "LT": lambda x, y: x < y,
    "NE": lambda x, y: x != y,
}


def evaluate(name: str, *numbers: complex) -> Any:
    """The result of the decomposition of an operation on scalars."""
    values: dict[str, Any] = {f"%arg{index}": number for index, number in enumerate(numbers)}
    for words in _decomposed(
        name, "complex<f64>" if isinstance(numbers[0], complex) else "f64", len(numbers)
    ):
        if len(words) > 2 and words[1] == "=":
            values[words[0]] = _result(words[2].removeprefix("stablehlo."), words[3:], values)
        elif words and words[0] == "return":
            return values[words[1]]
    raise AssertionError


@cache
def _decomposed(name: str, element: str, count: int) -> list[list[str]]:
    """The words of each line of the decomposition."""
    type = f"tensor<{element}>"
    names = [f"%a{index}" for index in range(count)]
    arguments = ", ".join(f"{each}: {type}" for each in names)
    types = ", ".join([type] * count)
    program = f"""func.func @f({arguments}) -> {type} {{
      %0 = chlo.{name} {", ".join(names)} : {types} -> {type}
      return %0 : {type}
    }}"""
    module = sdyopt.parse(program).run("builtin.module(func.func(chlo-legalize-to-stablehlo))")
    return [line.replace(",", " ").split() for line in module.as_text().splitlines()]


def _result(name: str, words: list[str], values: dict[str, Any]) -> Any:
    if name == "constant":
        text = words[0].removeprefix("dense<").removesuffix(">")
        return struct.unpack(">d", bytes.fromhex(text[2:]))[0] if text.startswith("0x") else float(text)
    if name == "compare":
        return COMPARISONS[words[0]](values[words[1]], values[words[2]])
    operands = [values[word] for word in words[: words.index(":")]]
    if name == "select":
        return operands[1] if operands[0] else operands[2]
    if name == "divide":
        x, y = operands
        return x / y if y else math.nan if not x else math.copysign(math.inf, x)
    if name == "log":
        return math.log(operands[0]) if operands[0] > 0 else -math.inf if not operands[0] else math.nan
    try:
        return UNARY[name](*operands) if len(operands) == 1 else BINARY[name](*operands)
    except (OverflowError, ValueError):
        return math.nan


REALS = (-6.5, -2.25, -1.0, -0.75, -0.1, 1e-3, 0.3, 0.5, 0.99, 1.5, 2.0, 7.9, 8.5, 20.0)


@pytest.mark.parametrize(
    ("name", "function", "numbers"),
    [
        ("erf", math.erf, REALS),
        ("erfc", math.erfc, REALS),
        ("lgamma", math.lgamma, [x for x in REALS if x > 0 or x % 1]),
        ("acosh", math.acosh, [x for x in REALS if x >= 1]),
        ("asinh", math.asinh, REALS),
        ("atanh", math.atanh, [x for x in REALS if abs(x) < 1]),
        ("cosh", math.cosh, REALS),
        ("sinh", math.sinh, REALS),
    ],
)
def test_functions_of_real_numbers(
    name: str, function: Callable[[float], float], numbers: list[float]
) -> None:
    for x in numbers:
        assert evaluate(name, x) == pytest.approx(function(x), rel=1e-10, abs=1e-12), x


def test_inverse_of_the_error_function() -> None:
    for x in (-0.9999999, -0.999, -0.5, 1e-5, 0.3, 0.9, 0.99999, 1 - 1e-12):
        assert math.erf(evaluate("erf_inv", x)) == pytest.approx(x, rel=1e-12)
    assert evaluate("erf_inv", 1.0) == math.inf
    assert evaluate("erf_inv", -1.0) == -math.inf


def test_derivatives_of_the_gamma_function() -> None:
    step = 1e-5
    for x in (-2.25, -0.75, 0.3, 1.5, 3.0, 20.0):
        slope = (math.lgamma(x + step) - math.lgamma(x - step)) / (2 * step)
        assert evaluate("digamma", x) == pytest.approx(slope, rel=1e-6)
        assert evaluate("polygamma", 0.0, x) == evaluate("digamma", x)
    assert evaluate("digamma", 0.0) == -math.inf
    assert math.isnan(evaluate("digamma", -3.0))
    assert evaluate("polygamma", 1.0, 1.0) == pytest.approx(math.pi**2 / 6)
    assert evaluate("polygamma", 3.0, 1.0) == pytest.approx(math.pi**4 / 15)


def test_zeta_function() -> None:
    assert evaluate("zeta", 2.0, 1.0) == pytest.approx(math.pi**2 / 6)
    assert evaluate("zeta", 4.0, 1.0) == pytest.approx(math.pi**4 / 90)
    assert evaluate("zeta", 3.0, 2.0) == pytest.approx(evaluate("zeta", 3.0, 1.0) - 1)
    assert evaluate("zeta", 1.0, 1.0) == math.inf
    assert math.isnan(evaluate("zeta", 0.5, 1.0))


def test_bessel_function() -> None:
    for x in (-9.0, -0.5, 0.1, 2.0, 8.0, 30.0):
        # The integral of exp(x (cos t - 1)) cos t over half a turn, by the midpoint rule.
        size, steps = abs(x), 2000
        angles = [(index + 0.5) * math.pi / steps for index in range(steps)]
        mean = sum(math.exp(size * (math.cos(t) - 1)) * math.cos(t) for t in angles) / steps
        assert evaluate("bessel_i1e", x) == pytest.approx(math.copysign(mean, x), rel=1e-10)


@pytest.mark.parametrize("name", ["acos", "acosh", "asin", "asinh", "atan", "atanh"])
def test_functions_of_complex_numbers(name: str) -> None:
    parts = (-3.0, -1.0, -0.4, 1e-9, 0.7, 1.0, 5.0, 1e20)
    for real in parts:
        for imag in parts:
            z = complex(real, imag)
            expected = getattr(cmath, name)(z)
            got = evaluate(name, z)
            assert got.real == pytest.approx(expected.real, rel=1e-9, abs=1e-12), z
            assert got.imag == pytest.approx(expected.imag, rel=1e-9, abs=1e-12), z
