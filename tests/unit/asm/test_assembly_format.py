"""Assembly formats: every one can be read, and mistakes in one are errors."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest

from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir import dialects
from sdyopt.mlir.asm.format.assembly_format import Assembly, FormatError, assembly
from sdyopt.mlir.asm.format.format_elements import AttrDict, Literal, Operand, TypeOf
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.ir.dialect import Dialect, DialectTable
from sdyopt.mlir.ir.op_fields import region
from sdyopt.mlir.ir.operation import Op


@pytest.mark.parametrize("name", [module.name for module in iter_modules(dialects.__path__)])
def test_every_format_of_a_dialect_can_be_read(name: str) -> None:
    module = import_module(f"{dialects.__name__}.{name}")
    for dialect in list(vars(module).values()):
        if isinstance(dialect, Dialect):
            for op_class in dialect.ops.values():
                format = op_class.assembly
                assert format is None or isinstance(format, Assembly)
                while format is not None:
                    assert format.elements_for(op_class)
                    format = format._before


def test_a_format_is_a_list_of_elements() -> None:
    elements = assembly("$lhs `,` $rhs attr-dict `:` type($out, $lhs, $rhs)").elements_for(AddOp)
    assert [type(element) for element in elements] == [Operand, Literal, Operand, AttrDict, Literal, TypeOf]
    types = elements[-1]
    assert isinstance(types, TypeOf) and (types.field, types.same) == ("out", ("lhs", "rhs"))


def test_region_is_printed_with_its_arguments() -> None:
    dialect = Dialect("toy")

    @dialect.op("wrap")
    class Wrap(Op):
        body = region()
        assembly = assembly("$body attr-dict")

    table = DialectTable({"toy": dialect}.get, lambda: ["toy"])
    text = 'toy.wrap {\n^bb0(%arg0: i32):\n  "u.end"(%arg0) : (i32) -> ()\n}\n'
    options = ParseOptions(allow_unregistered_dialects=True, implicit_module=False)
    op, _ = parse_module(Source("", text), table, options)
    assert print_op(op, PrintOptions()) == text


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("$lhs `,` $missing", "no field 'missing'"),
        ("$lhs attributes", "no directive attributes"),
        ("(`at` $lhs^ `,` $rhs)", "expected ? at the end"),
        ("$lhs custom<Missing>($rhs)", "no directive custom<Missing>"),
        ("$lhs, $rhs", "unexpected ,"),
    ],
)
def test_a_mistake_in_a_format_is_an_error(format: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        assembly(format).elements_for(AddOp)
    assert message in error.value.message
