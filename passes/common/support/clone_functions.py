"""Clones of functions: one for each call, with clones of all its callees."""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.ir.attribute import StringAttr, SymbolRef, string
from sdyopt.mlir.ir.rewrite import Rewriter

from .call_graph import calls_in
from .fresh_names import FreshNames

# The attribute of a copy with the name of the original function, which is not a copy itself.
ORIGINAL_NAME = "sdy.original_func_name"


def original_name(function: FuncOp) -> str:
    """The name of the function, or of the function that it is a copy of."""
    original = function.attributes.get(ORIGINAL_NAME)
    return original.value if isinstance(original, StringAttr) else function.sym_name


class FunctionCopies:
    """Clones functions to the end of a module, with unique names."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._rewriter = rewriter
        self._names = FreshNames(module)
        self._functions = {op.sym_name: op for op in module.block.ops if isinstance(op, FuncOp)}

    def callee(self, call: CallOp) -> FuncOp:
        """The callee of a call, also if the call is in a copy that is not in the module yet.

        Raises DiagnosticError if the module does not contain the callee, as in a nested module.
        """
        function = self._functions.get(call.callee)
        if function is None:
            raise call.error(f"Failed to lookup function: {call.callee}")
        return function

    def copy_for(self, call: CallOp) -> None:
        """Copies the callee of a call, with copies of all its callees, and redirects the call to the copy.

        Copies of callees are named and inserted first. The callee must not be recursive; `CopyBudget` ensures
        that.
        """
        # The calls whose callees are being copied, each with the copy and the remaining calls in it.
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
        """A copy of the callee that is not in the module yet, and the calls in it in reverse order."""
        function = self.callee(call)
        copy = self._rewriter.clone(function)
        assert isinstance(copy, FuncOp)
        self._rewriter.set_attribute(copy, ORIGINAL_NAME, string(original_name(function)))
        return copy, calls_in(copy)[::-1]

    def _insert(self, copy: FuncOp) -> None:
        self._rewriter.set_attribute(copy, "sym_name", string(self._names.take(copy.sym_name)))
        self._rewriter.insert(copy, at_end_of=self._module.block)
        self._functions[copy.sym_name] = copy
