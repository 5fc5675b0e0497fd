"""Attribute formats: one declaration parses, prints and reports errors."""

import pytest

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.format.attribute_format import (
    BracketedList,
    OptionalParameters,
    attribute_format,
    dialect_attribute,
    integer,
    nested_list,
    string,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.attributes import AttributeParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.dialect import Dialect, DialectTable
from tests.unit.asm.parse_text import Aliases, located_message

toy = Dialect("toy")


@dialect_attribute(toy, "point", "Toy_Point")
class Point(Attribute):
    name: str
    x: int = 0
    dialect = "toy"
    assembly = attribute_format(
        string("name"),
        OptionalParameters("@", integer("x"), default=0),
        check=lambda point: None if point.name else "a point needs a name",
    )


@dialect_attribute(toy, "path", "Toy_Path")
class Path(Attribute):
    points: tuple[Point, ...] = ()
    dialect = "toy"
    assembly = attribute_format("<", BracketedList("[", nested_list("points", Point), "]"), ">")


@enumeration(toy, "color", "RED", "GREEN")
class Color(EnumAttr):
    pass


class ToyAliases(Aliases):
    dialects = DialectTable(lambda name: toy if name == "toy" else None)


def parse(text: str) -> Attribute:
    source = Source("test", text)
    return AsmParser(source, AttributeParser(source, ToyAliases(source, False))).attribute()


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (Point("a"), '#toy<point"a">'),
        (Point("a", 3), '#toy<point"a"@3>'),
        (Path(), "#toy.path<[]>"),
        (Path((Point("a", 3), Point("b"))), '#toy.path<["a"@3, "b"]>'),
    ],
)
def test_attributes_print_and_parse_by_their_format(attribute: Attribute, text: str) -> None:
    assert AttributePrinter().attribute(attribute) == text
    assert parse(text) is attribute


def test_nested_attributes_may_have_their_mnemonic() -> None:
    assert parse('#toy.path<[#toy<point"a">, "b"]>') is Path((Point("a"), Point("b")))
    with pytest.raises(DiagnosticError, match="invalid kind of attribute specified"):
        parse("#toy.path<[#toy.path<[]>]>")


def test_each_enclosing_parameter_adds_an_error() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse('#toy.path<["a"@x]>')
    assert located_message(caught.value) == "1:16: expected integer value"
    assert [follower.message for follower in caught.value.diagnostic.followers] == [
        "failed to parse Toy_Point parameter 'x' which is to be a `int64_t`",
        "failed to parse Toy_Path parameter 'points' which is to be a `::llvm::ArrayRef<PointAttr>`",
    ]


def test_invalid_attributes_are_rejected_where_they_start() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse('#toy.path<["a", ""]>')
    assert located_message(caught.value) == "1:17: a point needs a name"


def test_help_shows_the_brackets_of_the_dialect() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse('#toy.point<"a"@3>')
    expected = 'an attribute of this kind is written `#toy<point"a"@3>`'
    assert caught.value.diagnostic.help == expected


def test_a_case_that_an_enumeration_of_a_plugin_lacks_is_an_error() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse("#toy<color REED>")
    assert located_message(caught.value) == "1:12: expected ::mlir::toy::Color to be one of: RED, GREEN"
    assert [follower.message for follower in caught.value.diagnostic.followers] == [
        "failed to parse toy_ColorAttr parameter 'value' which is to be a `::mlir::toy::Color`"
    ]
