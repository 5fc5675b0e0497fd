"""Finding operations that have locations of their own in the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdyopt.base.diagnostics.location import FileLoc, NameLoc, Source, UnknownLoc
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.error_help.statement import OpOffsets
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.registry import find_dialect

DIALECTS = DialectTable(find_dialect)
OPTIONS = ParseOptions()
EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.mlir"))


def parse(text: str) -> tuple[Op, OpOffsets]:
    source = Source("f.mlir", text)
    return parse_module(source, DIALECTS, OPTIONS)[0], OpOffsets(source, DIALECTS, OPTIONS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_operation_is_found(path: Path) -> None:
    bare, _ = parse_module(Source("g.mlir", path.read_text(encoding="utf-8")), DIALECTS, OPTIONS)
    text = print_op(bare, PrintOptions(debuginfo=True))
    module, offsets = parse(text)
    for op in module.walk():
        offset = offsets.find(op.location, op)
        assert offset is not None
        line = text[text.rfind("\n", 0, offset) + 1 : text.find("\n", offset)]
        # `applies` implies the operations of a body.
        assert op.signature.name.rpartition(".")[2] in line or " applies " in line


def test_operations_with_one_location_are_told_apart() -> None:
    """By attributes and types if they differ, otherwise by position."""
    text = (
        "func.func @f(%x: tensor<4xf32>, %y: tensor<8xf32>) {\n"
        '  %0 = stablehlo.abs %x : tensor<4xf32> loc("a.py":1:2)\n'
        '  %1 = stablehlo.abs %y : tensor<8xf32> loc("a.py":1:2)\n'
        '  %2 = stablehlo.abs %y : tensor<8xf32> loc("a.py":1:2)\n'
        "  return\n"
        "}\n"
    )
    module, offsets = parse(text)
    ops = [op for op in module.walk() if op.signature.name == "stablehlo.abs"]
    lines = [text.count("\n", 0, offsets.find(op.location, op) or 0) + 1 for op in ops]
    assert lines == [2, 3, 4]


def test_an_operation_that_a_pass_replaced_is_found_by_its_location() -> None:
    module, offsets = parse('func.func @f() {\n  return loc("a"("b.py":3:4))\n}\n')
    (function,) = (op for op in module.walk() if op.signature.name == "func.func")
    location = NameLoc("a", FileLoc("b.py", 3, 4))
    assert offsets.find(location, function) == offsets.find(location, None) == 19
    assert offsets.find(UnknownLoc(), None) is None


def test_with_an_unknown_location_the_operation_must_be_the_same() -> None:
    module, offsets = parse("func.func @f() {\n  return loc(unknown)\n} loc(unknown)\n")
    other, _ = parse("func.func @g() {\n  return loc(unknown)\n} loc(unknown)\n")
    found = [offsets.find(UnknownLoc(), op) for op in module.walk() if op.signature.name == "func.func"]
    assert found == [0]
    assert [offsets.find(UnknownLoc(), op) for op in other.walk() if op.signature.name == "func.func"] == [
        None
    ]


def test_an_invalid_source_has_no_offsets() -> None:
    offsets = OpOffsets(Source("f.mlir", "func.func @f() {"), DIALECTS, OPTIONS)
    assert offsets.find(UnknownLoc(), None) is None
