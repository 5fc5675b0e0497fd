"""The number of uses of each function, updated while calls are inlined."""

from __future__ import annotations

from collections import Counter

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import is_public, symbol_references


class FunctionUses:
    """Counts the symbol references in a module. A function that is not public is dead without uses."""

    def __init__(self, module: ModuleOp) -> None:
        self._all = _references(module)
        self._inside: dict[FuncOp, Counter[str]] = {}

    def recount(self, function: FuncOp) -> None:
        """Counts the references in a function, at first and after another pass has edited it."""
        old = self._inside.get(function)
        if old is not None:
            self._all.subtract(old)
        self._inside[function] = _references(function)
        if old is not None:
            self._all.update(self._inside[function])

    def is_dead(self, function: FuncOp) -> bool:
        return not is_public(function) and self._all[function.sym_name] == 0

    def has_one_use(self, function: FuncOp) -> bool:
        """Whether the function is dead after its one remaining use has been inlined."""
        return not is_public(function) and self._all[function.sym_name] == 1

    def record_inlining(self, callee: FuncOp, caller: FuncOp, is_moved: bool) -> None:
        """Updates the counts after a callee's body, or a copy of it, has replaced a call."""
        inner = self._inside[callee]
        outer = self._inside[caller]
        outer.update(inner)
        outer[callee.sym_name] -= 1
        self._all[callee.sym_name] -= 1
        if is_moved:
            del self._inside[callee]
        else:
            self._all.update(inner)


def _references(op: Op) -> Counter[str]:
    """The number of references to each symbol in an operation and its regions."""
    counts: Counter[str] = Counter()
    names: dict[Attribute, list[str]] = {}
    for inner in op.walk():
        for attributes in (inner.inherent_attributes(), inner.attributes):
            if attributes.entries:
                if attributes not in names:
                    names[attributes] = [reference.root for reference in symbol_references(attributes)]
                counts.update(names[attributes])
    return counts
