"""Reading programs of the mesh dialect in tests."""

from __future__ import annotations

from sdyopt.diagnostics.source import Source
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.verify import Verifier
from sdyopt.registry import find_dialect
from sdyopt.syntax.parse import parse_module
from sdyopt.syntax.spell import Speller

DIALECTS = DialectTable(find_dialect)


def read(text: str) -> ModuleOp:
    """The program of a text, verified."""
    module, _ = parse_module(Source("test.mlir", text), DIALECTS)
    assert isinstance(module, ModuleOp)
    assert verify(module)
    return module


def verify(module: ModuleOp) -> bool:
    return Verifier(DIALECTS, Speller().type, lambda op: op.form.name).verify(module)


def function_of(module: ModuleOp) -> FuncOp:
    """The first function."""
    return next(op for op in module.block.ops if isinstance(op, FuncOp))
