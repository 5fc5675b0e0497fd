"""The functions of a program that are run: @main or, without one, the public functions that none calls."""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.attribute import SymbolRef, nested_attributes, string
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.shardy.partition.entry_functions import MAIN, entry_functions


def entry_names(module: ModuleOp) -> list[str]:
    """The names of the functions that are run."""
    return [function.sym_name for function in entry_functions(module)]


def function_named(module: ModuleOp, name: str) -> FuncOp | None:
    """The function with a body of this name."""
    symbol = module.symbol(name)
    return symbol if isinstance(symbol, FuncOp) and not symbol.is_declaration else None


def program_of(module: ModuleOp, name: str) -> tuple[ModuleOp, FuncOp]:
    """A copy of a program with this function, as the public @main, and the functions that it refers to."""
    rewriter = Rewriter()
    copy = rewriter.clone(module)
    assert isinstance(copy, ModuleOp)
    entry = function_named(copy, name)
    assert entry is not None
    needed = _reachable(copy, entry)
    for op in list(copy.block.ops):
        if isinstance(op, FuncOp) and op not in needed:
            rewriter.erase(op)
        elif isinstance(op, FuncOp) and op is not entry:
            rewriter.set_attribute(op, "sym_visibility", string("private"))
    rewriter.remove_attribute(entry, "sym_visibility")
    rewriter.set_attribute(entry, "sym_name", string(MAIN))
    return copy, entry


def _reachable(module: ModuleOp, entry: FuncOp) -> set[Op]:
    """The functions that a function refers to, by calls or in any other way, and itself."""
    by_name = {op.sym_name: op for op in module.block.ops if isinstance(op, FuncOp)}
    found: set[Op] = {entry}
    worklist: list[FuncOp] = [entry]
    while worklist:
        for op in worklist.pop().walk():
            for reference in nested_attributes(op.signature.attributes):
                function = by_name.get(reference.root) if isinstance(reference, SymbolRef) else None
                if function is not None and function not in found:
                    found.add(function)
                    worklist.append(function)
    return found
