"""Reading programs in tests, and running a function on simulated devices one operation after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sdyopt.asm.parser.module_parser import parse_module
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.diagnostics.source import Source
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op
from sdyopt.ir.value import Value
from sdyopt.ir.verify import Verifier
from sdyopt.registry import find_dialect

DIALECTS = DialectTable(find_dialect)
# What the devices hold of a value.
Held = TypeVar("Held")


def read(text: str) -> ModuleOp:
    """The program of a text, verified."""
    module = read_unverified(text)
    assert verify(module)
    return module


def read_unverified(text: str) -> ModuleOp:
    """The program of a text, which may say things that do not go together."""
    module, _ = parse_module(Source("test.mlir", text), DIALECTS)
    assert isinstance(module, ModuleOp)
    return module


def verify(module: ModuleOp) -> bool:
    return Verifier(DIALECTS, AttributePrinter().type, lambda op: op.signature.name).verify(module)


def functions_of(module: ModuleOp) -> list[FuncOp]:
    return [op for op in module.block.ops if isinstance(op, FuncOp)]


def function_of(module: ModuleOp) -> FuncOp:
    """The first function."""
    return functions_of(module)[0]


def run(function: FuncOp, arguments: Sequence[Held], execute: Callable[[Op, Held], Held]) -> list[Held]:
    """What a function returns whose operations have one operand that counts, and one result."""
    values: dict[Value, Held] = dict(zip(function.entry.arguments, arguments, strict=True))
    for op in function.entry.ops:
        if op.is_terminator:
            return [values[value] for value in op.operands]
        values[op.results[0]] = execute(op, values[op.operand_at(0)])
    raise AssertionError("a function ends with a terminator")
