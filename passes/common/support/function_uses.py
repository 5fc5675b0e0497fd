"""How often functions are referred to, and from where: kept up while calls are inlined."""

from __future__ import annotations

from collections import Counter

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import is_public, symbol_references


class FunctionUses:
    """Counts symbols in what a module holds. What is not public may go with its last use."""

    def __init__(self, module: ModuleOp) -> None:
        self._all = _references(module)
        self._inside: dict[FuncOp, Counter[str]] = {}

    def recount(self, function: FuncOp) -> None:
        """Counts what is in a function again, after something else edited it."""
        old = self._inside.get(function)
        if old is not None:
            self._all.subtract(old)
        self._inside[function] = _references(function)
        if old is not None:
            self._all.update(self._inside[function])

    def is_dead(self, function: FuncOp) -> bool:
        return not is_public(function) and self._all[function.sym_name] == 0

    def has_last_use(self, function: FuncOp) -> bool:
        """Whether the function can go with the one use that is left."""
        return not is_public(function) and self._all[function.sym_name] == 1

    def inlined(self, callee: FuncOp, caller: FuncOp, moved: bool) -> None:
        """Counts what a call was replaced by: all that the callee refers to, or a copy of it."""
        inner = self._inside[callee]
        outer = self._inside[caller]
        outer.update(inner)
        outer[callee.sym_name] -= 1
        self._all[callee.sym_name] -= 1
        if moved:
            del self._inside[callee]
        else:
            self._all.update(inner)


def _references(op: Op) -> Counter[str]:
    """How often each symbol is named inside an operation."""
    found: Counter[str] = Counter()
    known: dict[Attribute, list[str]] = {}
    for inner in op.walk():
        for attributes in (inner.inherent_attributes(), inner.attributes):
            if attributes.entries:
                if attributes not in known:
                    known[attributes] = [reference.root for reference in symbol_references(attributes)]
                found.update(known[attributes])
    return found
