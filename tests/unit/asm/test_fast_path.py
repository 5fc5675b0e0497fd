"""Lists of numbers in the layout in which MLIR prints them, and lists that only look alike."""

from __future__ import annotations

import struct

import pytest

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.parser.attributes.fast_path import printed_elements
from sdyopt.mlir.ir.types import F32, I8, I32, Type, tensor

from .parse_text import parse_attribute


def test_rows_are_split_by_the_shape_of_the_type() -> None:
    type = tensor((2, 3), I8)
    elements = printed_elements("[[1, 2, 3], [4, 5, -6]]", type)
    assert elements is not None and elements.data == bytes([1, 2, 3, 4, 5, 250])


def test_floats_are_packed() -> None:
    elements = printed_elements("[1.000000e+00, -2.500000e-01]", tensor((2,), F32))
    assert elements is not None and struct.unpack("<2f", elements.data) == (1.0, -0.25)


def test_equal_numbers_are_a_splat() -> None:
    elements = printed_elements("[7, 7, 7]", tensor((3,), I8))
    assert elements is not None and elements.data == b"\7"


@pytest.mark.parametrize(
    ("text", "shape", "element"),
    [
        # The text has another shape than the type.
        ("[1, 2, 3]", (2,), I32),
        ("[[1, 2], [3]]", (2, 2), I32),
        ("[[1, 2], [3, 4]]", (4,), I32),
        ("[1, 2, 3, 4]", (2, 2), I32),
        ("[[1, 2]3]", (1, 3), I32),
        ("]1, 2[", (2,), I32),
        # Python converts these to integers, but MLIR does not, or not to the same.
        ("[1_0, 2]", (2,), I32),
        ("[+1, 2]", (2,), I32),
        ("[\u0661, 2]", (2,), I32),
        ("[-0, 2]", (2,), I32),
        ("[300, 2]", (2,), I8),
        # Python converts these to floats, but MLIR does not.
        ("[1, 2.5]", (2,), F32),
        ("[.5, 2.5]", (2,), F32),
        ("[1.5, -.5]", (2,), F32),
        ("[1.5, .5]", (2,), F32),
        ("[1.5, +2.5]", (2,), F32),
        ("[1.5.2, 25]", (2,), F32),
        ("[nan, inf]", (2,), F32),
        # The time to convert a number with many digits is quadratic.
        (f"[{'1' * 31}, 2]", (2,), I32),
    ],
)
def test_other_lists_are_left_to_the_grammar(text: str, shape: tuple[int, ...], element: Type) -> None:
    assert printed_elements(text, tensor(shape, element)) is None


@pytest.mark.parametrize(
    "elements",
    [
        "[1, 2]",
        "[1,2]",
        "[ 1, 2 ]",
        "[1,  2]",
        "[1 2]",
        "[1, 2]3",
        "[1, 2",
        "[1, // two\n 2]",
        '"0x0100000002000000"',
        '"0x01"',
        '"0x0"',
        '"1"',
        '"0x01" "0x02"',
        r'"0x01\22"',
    ],
)
@pytest.mark.parametrize("type", ["tensor<2xi32>", "tensor<2xf32>", "tensor<1x2xi8>"])
def test_the_result_is_that_of_the_grammar(elements: str, type: str) -> None:
    text = f"dense<{elements}> : {type}"
    assert _outcome(text, uses_fast_path=True) == _outcome(text, uses_fast_path=False)


def _outcome(text: str, uses_fast_path: bool) -> object:
    try:
        return parse_attribute(text, uses_fast_path)
    except DiagnosticError as error:
        return error.diagnostic.message
