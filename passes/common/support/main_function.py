"""The entry point of a module."""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp

MAIN = "main"


def main_function(module: ModuleOp) -> FuncOp:
    """The only function of a module, or else the function `@main`. Raises if there is neither."""
    functions = [op for op in module.block.ops if isinstance(op, FuncOp)]
    if len(functions) == 1:
        return functions[0]
    for function in functions:
        if function.sym_name == MAIN:
            return function
    error = module.error(f"Failed to lookup function: {MAIN}")
    error.diagnostic.operation = None  # a note would print the whole program
    if functions:
        raise error.help("rename the entry point to `@main`")
    raise error.help("add a function to the module as the entry point")
