"""Affine maps and integer sets in bytecode, in both directions."""

import pytest

from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.bytecode.attribute_table import AttributeTable
from sdyopt.mlir.bytecode.dense_elements import read_affine_map, read_integer_set
from sdyopt.mlir.bytecode.encodings import EntryReader
from sdyopt.mlir.bytecode.stream import NEWEST_VERSION, ByteWriter, MalformedBytecode
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.registry import dialect_table

DIM, SYMBOL, CONSTANT, ADD, MULTIPLY, MODULO, FLOOR_DIVIDE, CEIL_DIVIDE = range(8)
IDENTITY, PERMUTATION, PROJECTED_PERMUTATION, GENERAL = range(4)


def entry(*numbers: int) -> EntryReader:
    """A reader of these numbers."""
    writer = ByteWriter()
    for number in numbers:
        writer.varint(number)
    data = bytes(writer.data)
    table = AttributeTable(data, NEWEST_VERSION, dialect_table(), allow_unregistered=False)
    return EntryReader(table, data, 0, len(data), "attribute and type", NEWEST_VERSION)


def attribute(text: str) -> Attribute:
    """The attribute of a text."""
    op, _ = parse_module(Source("f.mlir", f"module attributes {{x.a = {text}}} {{}}"), dialect_table())
    value = op.attributes.get("x.a")
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((3 << 2 | IDENTITY,), "(d0, d1, d2) -> (d0, d1, d2)"),
        ((2 << 2 | PERMUTATION, 1, 0), "(d0, d1) -> (d1, d0)"),
        ((3 << 2 | PROJECTED_PERMUTATION, 2, 2, 0), "(d0, d1, d2) -> (d2, d0)"),
        ((1 << 2 | GENERAL, 1, 1, ADD, DIM, 0, SYMBOL, 0), "(d0)[s0] -> (d0 + s0)"),
        ((1 << 2 | GENERAL, 0, 1, MULTIPLY, DIM, 0, CONSTANT, 4), "(d0) -> (d0 * 2)"),
        ((1 << 2 | GENERAL, 0, 1, MODULO, DIM, 0, CONSTANT, 4), "(d0) -> (d0 mod 2)"),
        (
            (1 << 2 | GENERAL, 0, 2, FLOOR_DIVIDE, DIM, 0, CONSTANT, 4, CEIL_DIVIDE, DIM, 0, CONSTANT, 4),
            "(d0) -> (d0 floordiv 2, d0 ceildiv 2)",
        ),
    ],
)
def test_a_map_is_read(numbers: tuple[int, ...], text: str) -> None:
    assert read_affine_map(entry(*numbers)) is attribute(f"affine_map<{text}>")


def test_a_set_is_read() -> None:
    reader = entry(1, 1, 2, DIM, 0, SYMBOL, 0, 0, 0)
    data = bytearray(reader.data)
    data[-2:] = b"\0\1"
    reader.data = bytes(data)
    assert read_integer_set(reader) is attribute("affine_set<(d0)[s0] : (d0 >= 0, s0 == 0)>")


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ((2 << 2 | PERMUTATION, 1, 2), "an affine map has more than its 2 dimensions"),
        ((1 << 2 | GENERAL, 0, 1, SYMBOL, 0), "a dimension or symbol that its map has not"),
        ((1 << 2 | GENERAL, 0, 1, 8), "there are no affine expressions of the kind 8"),
        ((1 << 19 | IDENTITY,), "an affine map of 131072 dimensions"),
        ((GENERAL, 0, 1, *[ADD] * 2000, CONSTANT, 0), "nested deeper than"),
    ],
)
def test_an_invalid_map_is_rejected(numbers: tuple[int, ...], problem: str) -> None:
    with pytest.raises(MalformedBytecode, match=problem):
        read_affine_map(entry(*numbers))
