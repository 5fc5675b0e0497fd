"""Builtin attributes and types."""

import pytest

from sdyopt.mlir.ir.affine import (
    AffineBinary,
    AffineDim,
    AffineExpr,
    AffineMapAttr,
    AffineSymbol,
    add,
    ceil_divide,
    constant,
    floor_divide,
    modulo,
    multiply,
    negate,
    subtract,
)
from sdyopt.mlir.ir.attribute import EMPTY_DICT, UNIT, DictAttr, dictionary, string
from sdyopt.mlir.ir.builtin_attributes import FALSE, TRUE, DenseElements, boolean, dense, integer
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    F32,
    I1,
    I8,
    INDEX,
    UI8,
    IntegerType,
    RankedTensor,
    Signedness,
    element_of,
    tensor,
)

D0, D1, S0 = AffineDim(0), AffineDim(1), AffineSymbol(0)


def test_equal_attributes_are_one_object() -> None:
    assert tensor((2, 3), F32) is RankedTensor((2, 3), F32, None)
    assert dictionary({"b": UNIT, "a": string("x")}) is dictionary([("a", string("x")), ("b", UNIT)])


def test_shaped_types_have_a_number_of_elements() -> None:
    assert tensor((2, 3), F32).num_elements == 6
    assert not tensor((2, DYNAMIC), F32).has_static_shape
    assert element_of(tensor((), F32)) is element_of(F32) is F32


def test_dictionary_entries_are_sorted_and_replaced() -> None:
    first = dictionary({"b": UNIT}).with_entry("a", TRUE)
    assert list(first.names) == ["a", "b"]
    assert first.with_entry("a", TRUE) is first
    assert first.without("a", "c") is DictAttr((("b", UNIT),))
    assert first.without("a", "b") is EMPTY_DICT
    assert first.get("c") is None
    assert "a" in first


@pytest.mark.parametrize(
    ("value", "type", "wrapped"),
    [
        (255, I8, -1),
        (-129, I8, 127),
        (255, UI8, 255),
        (-1, UI8, 255),
        (-1, I1, 1),
        (1, IntegerType(1, Signedness.SIGNED), -1),
        (5, IntegerType(0), 0),
        (1 << 63, INDEX, -(1 << 63)),
    ],
)
def test_integers_wrap_to_the_width_of_their_type(value: int, type: IntegerType, wrapped: int) -> None:
    assert integer(value, type).value == wrapped


def test_booleans_are_one_bit_integers() -> None:
    assert boolean(True) is integer(1, I1) is TRUE
    assert boolean(False) is FALSE


def test_a_splat_stores_one_element() -> None:
    type = tensor((1000, 1000), I8)
    assert dense(type, b"\x01" * 1_000_000) is DenseElements(type, b"\x01")
    assert dense(tensor((2,), I8), b"\x01\x02").data == b"\x01\x02"
    assert DenseElements(tensor((3,), I8), b"\x01").expanded == b"\x01\x01\x01"


@pytest.mark.parametrize(
    ("built", "simplified"),
    [
        (add(constant(4), D0), add(D0, constant(4))),
        (add(add(D0, constant(2)), constant(3)), add(D0, constant(5))),
        (add(add(D0, constant(2)), D1), add(add(D0, D1), constant(2))),
        (add(S0, D0), add(D0, S0)),
        (add(multiply(D0, constant(2)), D0), multiply(D0, constant(3))),
        (subtract(D0, D0), constant(0)),
        (multiply(multiply(D0, constant(2)), constant(3)), multiply(D0, constant(6))),
        (multiply(D0, constant(0)), constant(0)),
        (negate(negate(D0)), D0),
        (floor_divide(multiply(D0, constant(128)), constant(64)), multiply(D0, constant(2))),
        (floor_divide(constant(-5), constant(2)), constant(-3)),
        (ceil_divide(constant(-5), constant(2)), constant(-2)),
        (ceil_divide(D0, constant(1)), D0),
        (modulo(constant(-5), constant(3)), constant(1)),
        (modulo(multiply(D0, constant(4)), constant(2)), constant(0)),
        (modulo(modulo(D0, constant(4)), constant(2)), modulo(D0, constant(2))),
        (
            subtract(D0, multiply(floor_divide(D0, constant(4)), constant(4))),
            modulo(D0, constant(4)),
        ),
        (constant(1 << 63), constant(-(1 << 63))),
    ],
)
def test_affine_expressions_are_simplified_when_built(built: AffineExpr, simplified: AffineExpr) -> None:
    assert built is simplified


def test_division_by_a_non_positive_constant_is_not_simplified() -> None:
    assert isinstance(floor_divide(D0, constant(0)), AffineBinary)
    assert isinstance(modulo(D0, constant(-2)), AffineBinary)


def test_an_identity_map_has_every_dimension_in_order() -> None:
    assert AffineMapAttr(2, 0, (D0, D1)).is_identity
    assert not AffineMapAttr(2, 0, (D1, D0)).is_identity
    assert not AffineMapAttr(2, 0, (D0,)).is_identity
