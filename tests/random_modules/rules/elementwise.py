"""Random operations that work on each element by itself."""

from __future__ import annotations

from tests.random_modules.rules.tensors import same, tensor
from tests.random_modules.scopes import Maker, Scope, Tensor

UNARY = {
    "f32": (
        *("abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log"),
        *("log_plus_one", "logistic", "negate", "round_nearest_afz", "round_nearest_even", "rsqrt"),
        *("sign", "sine", "sqrt", "tan", "tanh"),
    ),
    "i32": ("abs", "count_leading_zeros", "negate", "not", "popcnt", "sign"),
    "i1": ("not",),
}
BINARY = {
    "f32": (*("add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"),),
    "i32": (
        *("add", "and", "multiply", "or", "shift_left", "shift_right_arithmetic", "shift_right_logical"),
        "xor",
    ),
    "i1": ("and", "or", "xor"),
}
ELEMENTS = ("f32", "f32", "f32", "i32", "i1")


def unary(scope: Scope) -> None:
    element = scope.random.choice(ELEMENTS)
    value = tensor(scope, element=element)
    same(scope, f"stablehlo.{scope.random.choice(UNARY[element])}", [value], value.type)


def binary(scope: Scope) -> None:
    element = scope.random.choice(ELEMENTS)
    left = tensor(scope, element=element)
    name = f"stablehlo.{scope.random.choice(BINARY[element])}"
    same(scope, name, [left, scope.one_of(left.type)], left.type)


def compare(scope: Scope) -> None:
    left = tensor(scope)
    word = "comparison_direction = #stablehlo<comparison_direction LT>"
    pair = [left, scope.one_of(left.type)]
    same(scope, "stablehlo.compare", pair, Tensor(left.type.shape, "i1"), word)


def select(scope: Scope) -> None:
    """The predicate may be one for all elements."""
    left = tensor(scope)
    truth = scope.one_of(Tensor(scope.random.choice((left.type.shape, ())), "i1"))
    same(scope, "stablehlo.select", [truth, left, scope.one_of(left.type)], left.type)


def clamp(scope: Scope) -> None:
    value = tensor(scope)
    low, high = (scope.one_of(Tensor(scope.random.choice((value.type.shape, ())))) for _ in range(2))
    same(scope, "stablehlo.clamp", [low, value, high], value.type)


def convert(scope: Scope) -> None:
    """To other elements, and to floats as they are."""
    value = tensor(scope, element=scope.random.choice(("f32", "i32", "i1")))
    other = Tensor(value.type.shape, scope.random.choice(("f32", "f32", "i32", "i1")))
    same(scope, "stablehlo.convert", [value], other)


def precision(scope: Scope) -> None:
    value = tensor(scope)
    if scope.random.random() < 0.5:
        same(scope, "stablehlo.is_finite", [value], Tensor(value.type.shape, "i1"))
        return
    bits = "exponent_bits = 5 : i32, mantissa_bits = 2 : i32"
    same(scope, "stablehlo.reduce_precision", [value], value.type, bits)


def complex_(scope: Scope) -> None:
    """A complex tensor, and a real one from it."""
    real = tensor(scope)
    whole = Tensor(real.type.shape, "complex<f32>")
    value = same(scope, "stablehlo.complex", [real, scope.one_of(real.type)], whole)
    same(scope, f"stablehlo.{scope.random.choice(('real', 'imag', 'abs'))}", [value], real.type)


OPERATIONS: dict[Maker, int] = {
    unary: 5,
    binary: 8,
    compare: 1,
    select: 2,
    clamp: 2,
    convert: 2,
    precision: 1,
    complex_: 1,
}
