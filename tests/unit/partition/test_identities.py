"""Identities: reducing any element with them gives the element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sdyopt.mlir.dialects.stablehlo.elementwise import (
    AddOp,
    AndOp,
    MaxOp,
    MinOp,
    MulOp,
    OrOp,
    SubtractOp,
    XorOp,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import F32, F64, I1, I8, I32, UI8, ComplexType, FloatType, Type
from sdyopt.shardy.partition.combiners import exact_sum_identity, identity_of

Elements = dict[Type, list[Any]]

DTYPES: dict[Type, type[np.generic]] = {
    F32: np.float32,
    F64: np.float64,
    I1: np.bool_,
    I8: np.int8,
    I32: np.int32,
    UI8: np.uint8,
    ComplexType(F32): np.complex64,
}
FLOATS: Elements = {F32: [-np.inf, -1.5, 0.0, np.inf], F64: [-np.inf, 2.0, np.inf]}
INTEGERS: Elements = {I8: [-128, -1, 0, 127], I32: [-(2**31), 5, 2**31 - 1], UI8: [0, 1, 255]}
COMPLEX: Elements = {ComplexType(F32): [1 + 2j, -3j]}
BOOLEANS: Elements = {I1: [False, True]}


@pytest.mark.parametrize(
    ("op_class", "function", "elements"),
    [
        (AddOp, np.add, {**FLOATS, **INTEGERS, **COMPLEX}),
        (MulOp, np.multiply, {**FLOATS, **INTEGERS, **COMPLEX}),
        (MaxOp, np.maximum, {**FLOATS, **INTEGERS, **BOOLEANS}),
        (MinOp, np.minimum, {**FLOATS, **INTEGERS, **BOOLEANS}),
        (AndOp, np.bitwise_and, {**INTEGERS, **BOOLEANS}),
        (OrOp, np.bitwise_or, {**INTEGERS, **BOOLEANS}),
        (XorOp, np.bitwise_xor, {**INTEGERS, **BOOLEANS}),
    ],
)
def test_reducing_with_the_identity_gives_the_element(
    op_class: type[Op], function: Callable[..., Any], elements: Elements
) -> None:
    for type, values in elements.items():
        data = identity_of(op_class, type)
        assert data is not None
        array = np.array(values, DTYPES[type])
        assert np.array_equal(function(array, np.frombuffer(data, array.dtype)), array)


def test_operations_that_are_no_reductions_have_none() -> None:
    assert identity_of(SubtractOp, F32) is None


def test_the_maximum_of_complex_numbers_has_none() -> None:
    assert identity_of(MaxOp, ComplexType(F32)) is None


def test_only_a_negative_zero_keeps_negative_zeros_in_a_sum() -> None:
    assert exact_sum_identity(F32) == bytes([0, 0, 0, 0x80])
    assert exact_sum_identity(FloatType("f8E4M3FNUZ")) == bytes([0])  # which has none; its bits are NaN
    assert exact_sum_identity(ComplexType(F32)) == 2 * bytes([0, 0, 0, 0x80])
    assert exact_sum_identity(I32) == bytes(4)
