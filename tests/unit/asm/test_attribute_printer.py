"""Printing options of attributes, and round trips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import CallSite, FileLoc, Location, NameLoc
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import (
    UNIT,
    ArrayAttr,
    Attribute,
    StringAttr,
    SymbolRef,
    TypeAttr,
    dictionary,
    string,
)
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, boolean, dense, dense_array, integer
from sdyopt.mlir.ir.types import (
    BF16,
    DYNAMIC,
    F32,
    F64,
    I1,
    I8,
    I32,
    I64,
    INDEX,
    UI8,
    ComplexType,
    FunctionType,
    RankedTensor,
    TupleType,
    Type,
    tensor,
)
from tests.unit.asm.parse_text import parse_attribute, parse_location, parse_type

LONG = dense(tensor((101,), I8), bytes(range(101)))


def test_long_lists_are_hexadecimal() -> None:
    shorter = dense(tensor((100,), I8), bytes(range(100)))
    assert AttributePrinter().attribute(LONG).startswith('dense<"0x00010203')
    assert AttributePrinter().attribute(shorter).startswith("dense<[0, 1, 2, 3")
    assert AttributePrinter(hex_larger_than=-1).attribute(LONG).startswith("dense<[0, 1, 2, 3")
    assert AttributePrinter(hex_larger_than=2).attribute(shorter).startswith('dense<"0x00010203')


def test_long_lists_are_elided_but_splats_are_not() -> None:
    attribute_printer = AttributePrinter(elide_larger_than=10)
    assert attribute_printer.attribute(LONG) == "dense_resource<__elided__> : tensor<101xi8>"
    assert attribute_printer.attribute(dense(LONG.type, b"\x01")) == "dense<1> : tensor<101xi8>"


def test_aliases_replace_attributes_and_types() -> None:
    attribute_printer = AttributePrinter(aliases={string("long"): "#short", F32: "!f"})
    assert attribute_printer.attribute(ArrayAttr((string("long"), TypeAttr(F32)))) == "[#short, !f]"
    assert attribute_printer.body(string("long")) == '"long"'


def test_text_of_a_pretty_location() -> None:
    site = CallSite(NameLoc("f", FileLoc("a.py", 1, 2)), FileLoc("b.py", 3, 4))
    assert AttributePrinter(is_pretty=True).location(site) == '"f"(a.py:1:2) at b.py:3:4'


def test_deep_nesting_is_printed() -> None:
    attribute: Attribute = UNIT
    location: Location = NameLoc("end")
    for _ in range(20_000):
        attribute, location = ArrayAttr((attribute,)), CallSite(NameLoc("f"), location)
    assert AttributePrinter().attribute(attribute) == "[" * 20_000 + "unit" + "]" * 20_000
    assert AttributePrinter().location(location).endswith('at "end"' + ")" * 20_001)


def test_exponentially_long_text_is_rejected() -> None:
    attribute: Attribute = UNIT
    for _ in range(100):
        attribute = ArrayAttr((attribute, attribute))
    with pytest.raises(DiagnosticError, match="too long to print"):
        AttributePrinter().attribute(attribute)


# --- Round trips ---------------------------------------------------------------------------------

SCALARS = [I1, I8, I32, I64, UI8, INDEX, F32, F64, BF16]
shapes = st.lists(st.sampled_from([0, 1, 2, 7, DYNAMIC]), max_size=3).map(tuple)
names = st.text(min_size=1, max_size=5)
scalar_types = st.sampled_from(SCALARS)
types: st.SearchStrategy[Type] = st.recursive(
    scalar_types
    | st.builds(RankedTensor, shapes, scalar_types | st.just(ComplexType(F32)))
    | st.builds(RankedTensor, shapes, scalar_types, st.builds(StringAttr, names)),
    lambda inner: (
        st.builds(TupleType, st.lists(inner, max_size=3).map(tuple))
        | st.builds(FunctionType, *[st.lists(inner, max_size=3).map(tuple)] * 2)
    ),
    max_leaves=6,
)
integers = st.builds(integer, st.integers(-(1 << 70), 1 << 70), st.sampled_from([I8, I32, I64, UI8, INDEX]))
leaves: st.SearchStrategy[Attribute] = (
    integers
    | st.booleans().map(boolean)
    | st.builds(FloatAttr, st.integers(0, (1 << 32) - 1), st.just(F32))
    | st.builds(FloatAttr, st.integers(0, (1 << 64) - 1), st.just(F64))
    | st.builds(StringAttr, st.text(max_size=6))
    | st.builds(StringAttr, names, scalar_types)
    | st.builds(SymbolRef, names, st.lists(names, max_size=2).map(tuple))
    | types.map(TypeAttr)
    | st.binary(min_size=24, max_size=24).map(lambda data: dense(tensor((2, 3), F32), data))
    | st.binary(min_size=6, max_size=6).map(lambda data: dense(tensor((6,), UI8), data))
    | st.lists(st.integers(-(1 << 31), (1 << 31) - 1)).map(lambda values: dense_array(I32, values))
)
attributes: st.SearchStrategy[Attribute] = st.recursive(
    leaves,
    lambda inner: (
        st.builds(ArrayAttr, st.lists(inner, max_size=4).map(tuple))
        | st.dictionaries(names, inner, max_size=4).map(dictionary)
    ),
    max_leaves=8,
)


@given(attributes, st.booleans())
def test_attributes_round_trip(attribute: Attribute, uses_fast_path: bool) -> None:
    assert parse_attribute(AttributePrinter().attribute(attribute), uses_fast_path) is attribute


@given(types, st.booleans())
def test_types_round_trip(type: Type, uses_fast_path: bool) -> None:
    assert parse_type(AttributePrinter().type(type), uses_fast_path) is type


@given(
    st.recursive(
        st.builds(NameLoc, names) | st.builds(FileLoc, names, st.just(1), st.just(2)),
        lambda inner: st.builds(CallSite, inner, inner) | st.builds(NameLoc, names, inner),
    )
)
def test_locations_round_trip(location: Location) -> None:
    assert parse_location(AttributePrinter().location(location)) is location
