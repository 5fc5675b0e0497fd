"""Names for new symbols."""

from __future__ import annotations

from sdyopt.ir.symbols import SymbolTableOp, symbol_name


class FreshNames:
    """Gives out names that no symbol of a table has: the one asked for if it is free, else with a number.

    Numbers count on from one request to the next, as in MLIR: if `a` and `b` are taken, asking for both
    gives `a_0` and `b_1`.
    """

    def __init__(self, table: SymbolTableOp) -> None:
        self._taken = {symbol_name(op) for op in table.symbols()}
        self._number = 0

    def take(self, wanted: str) -> str:
        """A free name, not free any longer."""
        name = wanted
        while name in self._taken:
            name = f"{wanted}_{self._number}"
            self._number += 1
        self._taken.add(name)
        return name
