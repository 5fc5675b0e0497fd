"""symbol-dce: remove symbols that nobody can reach.

    func.func private @unused() { return }
    func.func @main() { return }
becomes
    func.func @main() { return }

A symbol stays if it is public, or if something that stays refers to it. Which means that helpers left behind
by inlining go, and an entry point never does. A nested symbol stays if the table that holds it can be seen
from outside, which the outermost one never can.
"""

from __future__ import annotations

from collections import defaultdict

from sdyopt.ir.attribute import Attribute
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.symbols import (
    SymbolTableOp,
    is_private,
    is_public,
    lookup_path,
    symbol_name,
    symbol_uses,
)
from sdyopt.ir.traits import SYMBOL
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
        _find_live(op, live, is_hidden=op.parent is None or not _is_symbol(op) or is_private(op))
        rewriter = Rewriter()
        for symbol in op.walk_post_order():
            if SYMBOL in symbol.traits and symbol not in live and _is_erasable(symbol, op):
                rewriter.erase(symbol)
                self.count(self.removed)
        return rewriter.changed


def _find_live(table: SymbolTableOp, live: set[Op], is_hidden: bool) -> None:
    """Adds the symbols in `table` that can be reached, and those that they refer to.

    Of a table that is hidden, nobody outside can name anything that is not public.
    """
    pending = []
    for op in table.regions[0].blocks[0].ops:
        if not _is_symbol(op):
            pending.append(op)
        elif is_public(op) or not (is_hidden or is_private(op)):
            live.add(op)
            pending.append(op)
    # What was seen, by the table in which it is looked up: this one, or one that a name led into.
    seen: defaultdict[Op, set[Attribute | OpSignature]] = defaultdict(set)
    while pending:
        op = pending.pop()
        if isinstance(op, SymbolTableOp):
            _find_live(op, live, is_hidden or not _is_symbol(op) or is_private(op))
        holder = op.parent_op
        assert isinstance(holder, SymbolTableOp)
        uses = symbol_uses(op, seen[holder])
        if uses is None:
            raise op.error(
                "operation contains potentially unknown symbol table, meaning that we can't reliable "
                "compute symbol uses"
            )
        for reference in uses:
            found = [symbol for symbol in lookup_path(holder, reference) if symbol not in live]
            live.update(found)
            pending += found


def _is_symbol(op: Op) -> bool:
    return SYMBOL in op.traits and symbol_name(op) is not None


def _is_erasable(symbol: Op, root: Op) -> bool:
    return symbol is not root and _is_symbol(symbol) and isinstance(symbol.parent_op, SymbolTableOp)
