"""Random elementwise operations."""

from __future__ import annotations

from tests.random_modules.rules.tensors import tensor, write_op_with_result
from tests.random_modules.scopes import OpGenerator, Scope, Tensor

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
    write_op_with_result(scope, f"stablehlo.{scope.random.choice(UNARY[element])}", [value], value.type)


def binary(scope: Scope) -> None:
    element = scope.random.choice(ELEMENTS)
    left = tensor(scope, element=element)
    name = f"stablehlo.{scope.random.choice(BINARY[element])}"
    write_op_with_result(scope, name, [left, scope.one_of(left.type)], left.type)


def compare(scope: Scope) -> None:
    left = tensor(scope)
    word = "comparison_direction = #stablehlo<comparison_direction LT>"
    pair = [left, scope.one_of(left.type)]
    write_op_with_result(scope, "stablehlo.compare", pair, Tensor(left.type.shape, "i1"), word)


def select(scope: Scope) -> None:
    """The predicate may be a scalar."""
    left = tensor(scope)
    truth = scope.one_of(Tensor(scope.random.choice((left.type.shape, ())), "i1"))
    write_op_with_result(scope, "stablehlo.select", [truth, left, scope.one_of(left.type)], left.type)


def clamp(scope: Scope) -> None:
    value = tensor(scope)
    low, high = (scope.one_of(Tensor(scope.random.choice((value.type.shape, ())))) for _ in range(2))
    write_op_with_result(scope, "stablehlo.clamp", [low, value, high], value.type)


def convert(scope: Scope) -> None:
    """Converts to another element type, or from float to float."""
    value = tensor(scope, element=scope.random.choice(("f32", "i32", "i1")))
    other = Tensor(value.type.shape, scope.random.choice(("f32", "f32", "i32", "i1")))
    write_op_with_result(scope, "stablehlo.convert", [value], other)


def precision(scope: Scope) -> None:
    value = tensor(scope)
    if scope.random.random() < 0.5:
        write_op_with_result(scope, "stablehlo.is_finite", [value], Tensor(value.type.shape, "i1"))
        return
    bits = "exponent_bits = 5 : i32, mantissa_bits = 2 : i32"
    write_op_with_result(scope, "stablehlo.reduce_precision", [value], value.type, bits)


def complex_(scope: Scope) -> None:
    """Creates a complex tensor, and a real one from it."""
    real = tensor(scope)
    whole = Tensor(real.type.shape, "complex<f32>")
    value = write_op_with_result(scope, "stablehlo.complex", [real, scope.one_of(real.type)], whole)
    write_op_with_result(
        scope, f"stablehlo.{scope.random.choice(('real', 'imag', 'abs'))}", [value], real.type
    )


OPERATIONS: dict[OpGenerator, int] = {
    unary: 5,
    binary: 8,
    compare: 1,
    select: 2,
    clamp: 2,
    convert: 2,
    precision: 1,
    complex_: 1,
}
