"""Parsing of types, attributes and locations, and their syntax errors."""

import pytest

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements, FloatAttr, integer
from sdyopt.mlir.ir.types import F32, I8, I32, IntegerType, tensor
from tests.unit.asm.parse_text import (
    attribute_parser,
    located_message,
    parse_attribute,
    parse_location,
    parse_type,
)

# Text -> printed text, None if it is the same.
TYPES = {
    "i32": None,
    "si4": None,
    "i000000032": "i32",
    "ui" + "0" * 10_000 + "8": "ui8",
    "index": None,
    "none": None,
    "f8E4M3B11FNUZ": None,
    "complex<f32>": None,
    "tuple<>": None,
    "tuple<i32, tuple<f32>>": None,
    "tensor<f32>": None,
    "tensor< 4 x 8\n xf32>": "tensor<4x8xf32>",
    "tensor<0x4x?xi1>": None,
    "tensor<*xf32>": None,
    'tensor<4xf32, "encoding">': None,
    "tensor<4x!a.b<c>>": None,
    "tensor<2xcomplex<f64>>": None,
    "vector<2x[4]x3xf32>": None,
    "vector<f32>": None,
    "memref<?x4xf32, 3>": None,
    "memref<4xf32, affine_map<(d0) -> (d0)>, 0>": "memref<4xf32>",
    "memref<4x4xf32, strided<[?, 1], offset: ?>, 1 : i32>": None,
    "memref<*xf32, 2>": None,
    "()->()": "() -> ()",
    "(i32, f32) -> (i32, (i32) -> i32)": None,
    "(i32) -> ((i32) -> i32)": None,
    "!word": "f32",
    "!a<b>": "!a.b",
    '!a<"b">': None,
    "!a.b<1, [2]>": None,
}
ATTRIBUTES = {
    "1": "1 : i64",
    "-0x80 : i8": "-128 : i8",
    "255 : i8": "-1 : i8",
    "255 : ui8": None,
    "- 1": "-1 : i64",
    "1 : i1": "true",
    "true": None,
    "-1 : index": None,
    "1.": "1.000000e+00 : f64",
    "0x7FC00000 : f32": None,
    "-1.5e3 : bf16": "-1.504000e+03 : bf16",
    '"a\\n\\t\\\\\\22\\41é\\FF"': '"a\\0A\\09\\\\\\22A\\C3\\A9\\FF"',
    '"a" : !b.c': None,
    '@a ::@"b c"': '@a::@"b c"',
    "[1, 2 : i32, 3.0, [], unit]": "[1, 2 : i32, 3.000000e+00, [], unit]",
    "{b = 1, a = unit, i32, tensor = {}}": "{a, b = 1 : i64, i32, tensor = {}}",
    '{"a-b" = 1 : i32, "é"}': '{"a-b" = 1 : i32, "\\C3\\A9"}',
    "#word": '"w"',
    "#loc": 'loc("p")',
    "#a.b<c> : i32": None,
    "#a<b <1> >": None,
    "i32": None,
    "(i32) -> i32": None,
    "dense<1> : tensor<2xi32>": None,
    "dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>": None,
    "dense<[[1,1],\n [1, // so\n 1]]> : tensor<2x2xi8>": "dense<1> : tensor<2x2xi8>",
    "dense<[0x10, - 0x10]> : tensor<2xi32>": "dense<[16, -16]> : tensor<2xi32>",
    "dense<[true, 0]> : tensor<2xi1>": "dense<[true, false]> : tensor<2xi1>",
    "dense<[1.5, 0x7F800000]> : tensor<2xf32>": "dense<[1.500000e+00, 0x7F800000]> : tensor<2xf32>",
    "dense<[(1.0,2.0), (3.0,4.0)]> : tensor<2xcomplex<f16>>": (
        "dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f16>>"
    ),
    'dense<"0x0100000002000000"> : tensor<2xi32>': "dense<[1, 2]> : tensor<2xi32>",
    'dense<"0x5A"> : tensor<8xi1>': "dense<true> : tensor<8xi1>",
    "dense<[]> : tensor<0xi32>": "dense<> : tensor<0xi32>",
    "dense<1> : tensor<0xi32>": None,
    'dense<["a", "b"]> : tensor<2x!a.b>': None,
    "dense<[1, -2]> : tensor<2xi4>": None,
    "dense<[1.0, -1.5]> : vector<2xf4E2M1FN>": "dense<[1.000000e+00, -1.500000e+00]> : vector<2xf4E2M1FN>",
    "dense<tensor<2xi32> : [1 : i32, 2 : i32]>": "dense<[1, 2]> : tensor<2xi32>",
    "sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>": None,
    "sparse<> : tensor<4xi32>": None,
    'dense_resource<"a b"> : tensor<2xi32>': None,
    "array<i64>": None,
    "array<i8: 255, -128>": "array<i8: -1, -128>",
    "array<i1: true, false>": None,
    "array<f32: 1.0>": "array<f32: 1.000000e+00>",
    "array<ui8: -1>": "array<ui8: 255>",
    "strided<[?, -1], offset: 3>": None,
    "strided<[1], offset: 0>": "strided<[1]>",
    "distinct[3]<1 : i32>": "distinct[0]<1 : i32>",
    "distinct[3]<unit>": "distinct[0]<>",
    "affine_map<(i, j)[n] -> (j + 2 * i - n, 4 + -i)>": (
        "affine_map<(d0, d1)[s0] -> (d1 + d0 * 2 - s0, -d0 + 4)>"
    ),
    "affine_map<(mod) -> (-(mod + 1) floordiv 2)>": "affine_map<(d0) -> ((-(d0 + 1)) floordiv 2)>",
    "affine_set<(d0)[s0] : (d0 == s0, d0 <= 5)>": "affine_set<(d0)[s0] : (d0 - s0 == 0, -d0 + 5 >= 0)>",
    "affine_set<() : ()>": "affine_set<() : (0 == 0)>",
    # `<=` and `>=` are not brackets.
    f"affine_set<(d0) : ({', '.join(['d0 <= 5'] * 300)})>": (
        f"affine_set<(d0) : ({', '.join(['-d0 + 5 >= 0'] * 300)})>"
    ),
    'loc(callsite("a" at #loc))': 'loc(callsite("a" at "p"))',
}
LOCATIONS = {
    "loc(unknown)": None,
    'loc("a\\22"("f":1:2))': None,
    'loc("f":1:2 to 3:4)': None,
    'loc("f":1:2 to 1:4)': 'loc("f":1:2 to :4)',
    'loc("f":1:2 to 1:2)': 'loc("f":1:2)',
    'loc("":0:0)': 'loc("-":0:0)',
    'loc(fused<"m">["a", unknown])': 'loc(fused<"m">["a"])',
    'loc(fused["a", fused["b", "a"]])': 'loc(fused["a", "b"])',
    'loc(fused["a"])': 'loc("a")',
    'loc(fused<{k = 1}>["a", "b"])': 'loc(fused<{k = 1 : i64}>["a", "b"])',
    "loc(#loc)": 'loc("p")',
}


@pytest.mark.parametrize("uses_fast_path", [True, False], ids=["fast path", "grammar"])
@pytest.mark.parametrize(("text", "printed"), TYPES.items())
def test_types_are_parsed(text: str, printed: str | None, uses_fast_path: bool) -> None:
    assert AttributePrinter().type(parse_type(text, uses_fast_path)) == (printed or text)


@pytest.mark.parametrize("uses_fast_path", [True, False], ids=["fast path", "grammar"])
@pytest.mark.parametrize(("text", "printed"), ATTRIBUTES.items())
def test_attributes_are_parsed(text: str, printed: str | None, uses_fast_path: bool) -> None:
    assert AttributePrinter().attribute(parse_attribute(text, uses_fast_path)) == (printed or text)


@pytest.mark.parametrize(("text", "printed"), LOCATIONS.items())
def test_locations_are_parsed(text: str, printed: str | None) -> None:
    assert AttributePrinter().location(parse_location(text)) == (printed or text)


@pytest.mark.parametrize("text", [*ATTRIBUTES, *TYPES])
def test_fast_path_gives_the_result_of_the_grammar(text: str) -> None:
    if "distinct" not in text:
        assert parse_attribute(text) is parse_attribute(text, uses_fast_path=False)


def test_attributes_of_an_expected_type() -> None:
    assert parse_attribute("3", type=I8) is integer(3, I8)
    assert parse_attribute("1.5", type=F32) is FloatAttr(0x3FC00000, F32)
    assert parse_attribute("dense<3>", type=tensor((2,), I8)) is DenseElements(tensor((2,), I8), b"\x03")
    assert parse_attribute('"a"', type=I32) is StringAttr("a", I32)
    assert parse_attribute("unit", type=I32) is parse_attribute("unit")


INVALID_TYPES = {
    "foo": "1:1: expected non-function type",
    "tensor 4": "1:7: expected '<' in tensor type",
    "tensor<4xf32": "1:12: expected '>' in tensor type",
    "tensor<4x4>": "1:11: expected 'x' in dimension list",
    "tensor<4xfoo>": "1:10: expected non-function type",
    "tensor<99999999999999999999xf32>": "1:8: invalid dimension",
    "tensor<*xf32, 3>": "1:16: cannot apply encoding to unranked tensor",
    "tensor<4xtensor<4xf32>>": "1:10: invalid tensor element type",
    "vector<0xf32>": "1:1: vector types must have positive constant sizes but got 0",
    "vector<[4xf32>": "1:10: missing ']' closing scalable dimension",
    "memref<4xf32, 1, 2>": "1:19: multiple memory spaces specified in memref type",
    "memref<4xf32, 1, strided<[1]>>": "1:30: expected memory space to be last in memref type",
    "memref<*xf32, strided<[1]>>": "1:27: cannot have affine map for unranked memref type",
    "memref<4xf32,>": "1:14: expected list element",
    "complex<index>": "1:9: invalid element type for complex",
    "i16777216": "1:1: integer bitwidth is limited to 16777215 bits",
    "i99999999999999999999": "1:1: invalid integer width",
    "(i32)": "1:5: expected '->' in function type",
    "() -> (i32": "1:10: expected ')'",
    "!a<b]>": "1:3: unbalanced '<' character in pretty dialect name",
    "!a": "1:3: undefined symbol alias id 'a'",
    "tuple<" * 10_000: "1:1542: nesting is too deep",
}
INVALID_ATTRIBUTES = {
    "-true": "1:2: expected constant integer or floating point value",
    "256 : i8": "1:1: integer constant out of range for attribute",
    "-1 : ui8": "1:2: negative integer literal not valid for unsigned integer type",
    "1 : f32": "1:1: unexpected decimal integer literal for a floating point value",
    "-0x1 : f32": "1:2: hexadecimal float literal should not have a leading minus",
    "0x1FFFFFFFF : f32": "1:1: hexadecimal float constant out of range for type",
    "1.0 : i32": "1:9: floating point value not valid for specified type",
    "1" * 100_000: "1:1: integer constant out of range for attribute",
    "1" * 100_001 + " : i400000": "1:1: integer constant out of range for attribute",
    "array<i8: true>": "1:11: expected i1 type for 'true' or 'false' values",
    "array<i1: 1>": "1:12: expected 'true' or 'false' values for i1 type",
    "dense<-0> : tensor<i32>": "1:8: integer constant out of range for type",
    "dense<[1, -0]> : tensor<2xi32>": "1:12: integer constant out of range for type",
    "array<i32: -0, 3>": "1:14: integer constant out of range",
    "array<i8: 3, -0>": "1:16: integer constant out of range",
    "[1,]": "1:4: expected attribute value",
    "[1 2]": "1:3: expected ',' or ']'",
    "{a, a}": "1:5: duplicate key 'a' in dictionary attribute",
    "{a = %b}": "1:5: expected attribute value",
    "{a b}": "1:3: expected '}' in attribute dictionary",
    '{"a\\q"}': "1:4: unknown escape in string literal",
    '"a': "1:3: expected '\"' in string literal",
    "dense<[1,2,3]> : tensor<2xi32>": (
        "1:1: inferred shape of elements literal ([3]) does not match type ([2])"
    ),
    "dense<[[1,2],[3]]> : tensor<2x2xi32>": (
        "1:17: tensor literal is invalid; ranks are not consistent between elements"
    ),
    "dense<> : tensor<2xi32>": "1:1: parsed zero elements, but type ('tensor<2xi32>') expected at least 1",
    "dense<1.0> : tensor<2xi32>": "1:7: expected integer elements, but parsed floating-point",
    "dense<[1,\n 256]> : tensor<2xi8>": "2:2: integer constant out of range for type",
    "dense<1> : tensor<?xi32>": "1:1: elements literal type must have static shape",
    'dense<"0x01"> : tensor<2xi32>': (
        "1:1: elements hex data size is invalid for provided type: 'tensor<2xi32>'"
    ),
    'dense<"abc"> : tensor<2xi8>': "1:7: expected string containing hex digits starting with `0x`",
    "dense<1 2> : tensor<i32>": "1:8: expected '>'",
    "array<i64: 1.0>": "1:12: expected integer literal",
    "array<i3: 1>": "1:7: element type bitwidth must be a multiple of 8",
    "sparse<[[0,9]], [1]> : tensor<3x4xi32>": (
        "1:1: sparse index #0 is not contained within the value shape, with index=[0, 9], "
        "and type='tensor<3x4xi32>'"
    ),
    "affine_map<(d0) -> (d0 * d0)>": (
        "1:24: non-affine expression: at least one of the multiply operands has to be either a constant "
        "or symbolic"
    ),
    "affine_map<(d0) -> (d1)>": "1:21: use of undeclared identifier",
    "affine_map<(d0) : (d0 == 0)>": "1:12: expected AffineMap, but got IntegerSet",
    "[distinct[0]<1>, distinct[0]<2>]": (
        "1:18: referenced attribute does not match previous definition: 1 : i64"
    ),
    "loc(#word)": '1:10: expected location attribute, but got"w"',
    "[" * 10_000 + "]" * 10_000: "1:257: nesting is too deep",
}


@pytest.mark.parametrize(("text", "message"), INVALID_TYPES.items(), ids=range(len(INVALID_TYPES)))
def test_invalid_types_are_located_errors(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_type(text)
    assert located_message(caught.value) == message


@pytest.mark.parametrize(("text", "message"), INVALID_ATTRIBUTES.items(), ids=range(len(INVALID_ATTRIBUTES)))
def test_invalid_attributes_are_located_errors(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_attribute(text)
    assert located_message(caught.value) == message


def test_a_note_suggests_a_trailing_dot() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_attribute("1 : f32")
    assert [note.message for note in caught.value.diagnostic.notes] == [
        "add a trailing dot to make the literal a float"
    ]


def test_unregistered_dialects_are_rejected_by_default() -> None:
    with pytest.raises(
        DiagnosticError, match=r"#\"a\"<\"b<1>\"> : 'none' attribute created with unregistered"
    ):
        attribute_parser("#a.b<1>", allow_unregistered=False).attribute("#a.b<1>", 0)
    with pytest.raises(DiagnosticError, match=r"`!\"a\"<\"b\">` type created with unregistered dialect"):
        attribute_parser("!a.b", allow_unregistered=False).type("!a.b", 0)


@pytest.mark.parametrize("digits", [4001, 30_000])
def test_long_decimal_literals_are_parsed(digits: int) -> None:
    """They are converted even if the process limits the number of digits that Python converts."""
    assert parse_attribute("9" * digits + " : i100000") is integer(10**digits - 1, IntegerType(100_000))
    assert parse_attribute("0" * digits + "7 : i32") is integer(7, I32)
