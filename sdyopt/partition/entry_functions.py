"""The functions of a module at which a program starts."""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp

MAIN = "main"


def entry_functions(module: ModuleOp) -> list[FuncOp]:
    """`@main`, or else every function that has a body, is not private and is never called."""
    functions = [op for op in module.block.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name == MAIN:
            return [function]
    called = {op.callee for op in module.walk() if isinstance(op, CallOp)}
    return [
        function
        for function in functions
        if not function.is_declaration
        and function.sym_visibility in (None, "public")
        and function.sym_name not in called
    ]
