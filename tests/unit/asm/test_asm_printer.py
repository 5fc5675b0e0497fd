"""Errors of the printer of operations."""

import pytest

import sdyopt
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.render import render
from sdyopt.mlir.asm.printer import attribute_printer
from sdyopt.mlir.asm.printer.asm_printer import print_op


def test_an_attribute_that_is_too_long_is_reported_at_its_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attribute_printer, "MAX_TEXT", 20)
    text = 'func.func private @f()\nfunc.func private @g() attributes {a = "of many characters"}\n'
    module = sdyopt.parse(text)
    with pytest.raises(DiagnosticError) as error:
        print_op(module.ir)
    (first, *_) = render(error.value.diagnostic).splitlines()
    assert first == "<string>:2:1: error: attribute is too long to print"
