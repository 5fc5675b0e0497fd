"""Extents of types, attributes and locations."""

import pytest

from sdyopt.mlir.asm.lexical import attribute_extent, location_extent, type_extent


@pytest.mark.parametrize(
    "text",
    [
        "tensor<4xf32>",
        'tensor<4x!a.b<"]">, [1]>',
        "(i32, (f32) -> ()) -> (i32)",
        "(i32) -> tensor<4xf32>",
        "!a.b<c -> d>",
        "!a",
        "si8",
    ],
)
@pytest.mark.parametrize("rest", ["", " , i32", ">", " {a}"])
def test_the_extent_of_a_type_ends_before_the_rest(text: str, rest: str) -> None:
    assert type_extent(text + rest, 0) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 : i64",
        "-1.5e3 // so\n : f32",
        '"a\\"}" : i32',
        '@a :: @"b c"',
        '[1, "]", { a = // ]\n 2}]',
        "[#a.b<// [<\n>]>, 1]",
        "#a",
        '#a.b<">"> : tensor<2xi32>',
        "dense<[1, 2]> : tensor<2xi32>",
        "array<i64: 1>",
        "affine_set<(d0) : (d0 >= 0, d0 <= 3)>",
        "distinct[0]<1>",
        'loc("a"(")"))',
        "true",
        "unit",
        "tensor<2xi32>",
        "(i32) -> i32",
    ],
)
@pytest.mark.parametrize("rest", ["", ", 1", "}", " ]"])
def test_the_extent_of_an_attribute_ends_before_the_rest(text: str, rest: str) -> None:
    assert attribute_extent(text + rest, 0) == len(text)


def test_attribute_extent_without_type() -> None:
    assert attribute_extent("1 : i64", 0, takes_type=False) == 1
    assert attribute_extent("#alias : i64", 0) == len("#alias")
    assert attribute_extent("@symbol : i64", 0) == len("@symbol")


def test_the_extent_of_a_location_ends_before_the_rest() -> None:
    assert location_extent('loc(fused["a", ")"]) loc', 0) == len('loc(fused["a", ")"])')


def test_extent_of_invalid_text_is_empty() -> None:
    assert type_extent("foo", 0) == 0
    assert type_extent("12", 0) == 0
    assert attribute_extent("foo", 0) == 0


def test_extent_of_unbalanced_brackets_is_the_rest() -> None:
    assert attribute_extent("[1, 2) more", 0) == len("[1, 2) more")
    assert type_extent("tensor<4xf32 and so on", 0) == len("tensor<4xf32 and so on")
