"""symbol-dce: remove symbols that nobody can reach.

    func.func private @unused() { return }
    func.func @main() { return }
becomes
    func.func @main() { return }

A symbol stays if it is public, or if one that stays refers to it. Which means that helpers left
behind by inlining go, and an entry point never does.
"""

from __future__ import annotations

from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.symbols import (
    SymbolTableOp,
    is_public,
    lookup_path,
    symbol_name,
    symbol_uses,
)
from sdyopt.pipeline import Pass, Statistic
from sdyopt.registry import register


@register("symbol-dce")
class SymbolDCE(Pass):
    anchor = None

    removed = Statistic("num-dce'd", "Number of symbols DCE'd")

    def run(self, op: Op) -> bool:
        if not isinstance(op, SymbolTableOp):
            raise op.op_error(" was scheduled to run under SymbolDCE, but does not define a symbol table")
        live: set[Op] = set()
        _find_live(op, live)
        rewriter = Rewriter()
        for table in list(op.walk()):
            if isinstance(table, SymbolTableOp):
                for symbol in list(table.symbols()):
                    if symbol not in live:
                        rewriter.erase(symbol)
                        self.count(self.removed)
        return rewriter.changed


def _find_live(table: SymbolTableOp, live: set[Op]) -> None:
    """Adds the symbols in `table` that can be reached, and those that they refer to."""
    pending = []
    for region in table.regions:
        for block in region.blocks:
            for op in block.ops:
                if symbol_name(op) is None:
                    pending.append(op)
                elif is_public(op):
                    live.add(op)
                    pending.append(op)
    while pending:
        op = pending.pop()
        if isinstance(op, SymbolTableOp):
            _find_live(op, live)
        for user, reference in symbol_uses(op):
            for symbol in lookup_path(user, reference):
                if symbol not in live:
                    live.add(symbol)
                    pending.append(symbol)
