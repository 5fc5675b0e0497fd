"""The function that a program starts with."""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp

MAIN = "main"


def main_function(module: ModuleOp) -> FuncOp:
    """The only function, whatever it is called, or else the one that is called `main`."""
    functions = [op for op in module.block.ops if isinstance(op, FuncOp)]
    if len(functions) == 1:
        return functions[0]
    for function in functions:
        if function.sym_name == MAIN:
            return function
    error = module.error(f"Failed to lookup function: {MAIN}")
    error.diagnostic.operation = None  # which is the whole program
    if functions:
        raise error.help("Of several functions, one has to be the entry point: call it `@main`.")
    raise error.help("There has to be a function directly in the module: the entry point.")
