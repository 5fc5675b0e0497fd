"""Unique names for new symbols."""

from __future__ import annotations

from sdyopt.mlir.ir.symbols import SymbolTableOp, symbol_name


class FreshNames:
    """Creates unique names for a symbol table, from a base name and, if it is taken, a number.

    As in MLIR, one counter serves all names: if `a` and `b` are taken, the new names are `a_0` and `b_1`.
    """

    def __init__(self, table: SymbolTableOp) -> None:
        self._taken = {symbol_name(op) for op in table.symbols()}
        self._number = 0

    def take(self, base: str) -> str:
        """A unique name, which is taken from now on."""
        name = base
        while name in self._taken:
            name = f"{base}_{self._number}"
            self._number += 1
        self._taken.add(name)
        return name
