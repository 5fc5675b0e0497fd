"""Parses programs in tests, and runs functions operation by operation on simulated devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.registry import find_dialect

DIALECTS = DialectTable(find_dialect)
# The simulated value of a tensor.
Simulated = TypeVar("Simulated")


def read(text: str) -> ModuleOp:
    """Parses and verifies a module."""
    module = read_unverified(text)
    assert verify(module)
    return module


def read_unverified(text: str) -> ModuleOp:
    """Parses a module that may be invalid."""
    module, _ = parse_module(Source("test.mlir", text), DIALECTS)
    assert isinstance(module, ModuleOp)
    return module


def verify(module: ModuleOp) -> bool:
    return Verifier(DIALECTS, AttributePrinter().type, lambda op: op.signature.name).verify(module)


def functions_of(module: ModuleOp) -> list[FuncOp]:
    return [op for op in module.block.ops if isinstance(op, FuncOp)]


def function_of(module: ModuleOp) -> FuncOp:
    """The first function of a module."""
    return functions_of(module)[0]


def run(
    function: FuncOp, arguments: Sequence[Simulated], execute: Callable[[Op, Simulated], Simulated]
) -> list[Simulated]:
    """Runs a function whose operations use their first operand and have one result; returns its results."""
    values: dict[Value, Simulated] = dict(zip(function.entry.arguments, arguments, strict=True))
    for op in function.entry.ops:
        if op.is_terminator:
            return [values[value] for value in op.operands]
        values[op.results[0]] = execute(op, values[op.operand_at(0)])
    raise AssertionError("a function ends with a terminator")
