"""Errors of the printer of operations."""

import pickle

import pytest

import sdyopt
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.render import render
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter


def test_an_attribute_that_is_too_long_is_reported_at_its_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AttributePrinter, "most_text", 20)
    text = 'func.func private @f()\nfunc.func private @g() attributes {a = "of many characters"}\n'
    module = sdyopt.parse(text)
    with pytest.raises(DiagnosticError) as error:
        print_op(module.ir)
    (first, *_) = render(error.value.diagnostic).splitlines()
    assert first == "<string>:2:1: error: attribute is too long to print"


def test_a_program_that_is_too_long_to_print_is_an_error_of_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = sdyopt.parse('func.func private @f() attributes {a = "of many characters"}')
    monkeypatch.setattr(AttributePrinter, "most_text", 20)
    for use in (str, pickle.dumps):
        with pytest.raises(sdyopt.Error, match="attribute is too long to print"):
            use(module)


def test_a_diagnostic_has_the_beginning_of_a_type_that_is_too_long() -> None:
    """Each type is a pair of the one before, so the last one has 2^59 elements as text."""
    pairs = "\n".join(f"!t{number} = tuple<!t{number - 1}, !t{number - 1}>" for number in range(1, 60))
    function = "func.func @f(%a: !t59) -> i32 {\n  return %a : !t59\n}\n"
    with pytest.raises(sdyopt.VerifyError) as error:
        sdyopt.parse(f"!t0 = tuple<i32, i32>\n{pairs}\n{function}")
    [found] = error.value.diagnostics
    assert found.location.line == 62
    assert found.message.startswith("type of return operand 0 ('tuple<tuple<")
    assert found.message.endswith("…') doesn't match function result type ('i32') in function @f")
