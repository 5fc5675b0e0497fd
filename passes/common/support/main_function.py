"""The entry point of a module."""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.shardy.partition.entry_functions import MAIN, entry_functions


def main_function(module: ModuleOp) -> FuncOp:
    """The only function of a module, or else its only entry function.

    Raises DiagnosticError if the module has no entry function, or several.
    """
    functions = [op for op in module.block.ops if isinstance(op, FuncOp)]
    if len(functions) == 1:
        return functions[0]
    entries = entry_functions(module)
    if len(entries) == 1:
        return entries[0]
    message = f"Failed to lookup function: {MAIN}"
    if not functions:
        error = module.error(message).help("add a function to the module as the entry point")
    else:
        error = (entries or functions)[0].error(message).help("rename the entry point to `@main`")
    error.diagnostic.operation = None  # a note would print the whole program
    raise error
