"""Copies of functions: one for each call, with copies of all that they call."""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.attribute import StringAttr, SymbolRef, string
from sdyopt.ir.rewrite import Rewriter

from .call_graph import calls_in
from .fresh_names import FreshNames

# Of which function a function is a copy, however many copies lie between.
ORIGINAL_NAME = "sdy.original_func_name"


def original_name(function: FuncOp) -> str:
    """The name of the function, or of that of which it is a copy."""
    original = function.attributes.get(ORIGINAL_NAME)
    return original.value if isinstance(original, StringAttr) else function.sym_name


class FunctionCopies:
    """Makes copies of functions, at the end of a module and under names of their own."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._rewriter = rewriter
        self._names = FreshNames(module)
        self._functions = {op.sym_name: op for op in module.block.ops if isinstance(op, FuncOp)}

    def original(self, call: CallOp) -> FuncOp:
        """What is called. A call in a copy that stands in no module yet means the same as before."""
        function = self._functions.get(call.callee)
        if function is None:
            raise call.error(f"Failed to lookup function: {call.callee}")
        return function

    def copy_for(self, call: CallOp) -> None:
        """Makes a call use a copy, made for it alone, of its function and of all that this calls.

        Copies of what is called get their names and places first. There has to be an end to it, which a
        `CopyBudget` sees to.
        """
        # Calls whose callees are being copied, with the copy, and its calls still to be looked at.
        path = [(call, *self._start(call))]
        while path:
            caller, copy, calls = path[-1]
            if calls:
                inner = calls.pop()
                path.append((inner, *self._start(inner)))
                continue
            path.pop()
            self._insert(copy)
            self._rewriter.set_attribute(caller, "callee", SymbolRef(copy.sym_name))

    def _start(self, call: CallOp) -> tuple[FuncOp, list[CallOp]]:
        """A copy of what is called, not yet in the module, and the calls in it, last one first."""
        function = self.original(call)
        copy = self._rewriter.clone(function)
        assert isinstance(copy, FuncOp)
        self._rewriter.set_attribute(copy, ORIGINAL_NAME, string(original_name(function)))
        return copy, calls_in(copy)[::-1]

    def _insert(self, copy: FuncOp) -> None:
        self._rewriter.set_attribute(copy, "sym_name", string(self._names.take(copy.sym_name)))
        self._rewriter.insert(copy, at_end_of=self._module.block)
        self._functions[copy.sym_name] = copy
