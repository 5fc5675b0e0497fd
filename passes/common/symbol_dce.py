"""symbol-dce: remove unreachable symbols.

    func.func private @unused() { return }
    func.func @main() { return }
becomes
    func.func @main() { return }

A symbol in a live symbol table is live if it is public, or if a live symbol or an operation that is not a
symbol refers to it. So functions whose calls have all been inlined are removed, and entry points are kept. A
symbol with nested visibility is also live if all enclosing symbol tables, up to the one that the pass runs
on, are symbols that are not private. A top-level module counts as private.
"""

from __future__ import annotations

from collections import defaultdict

from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.ir.op_signature import used_classes
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import (
    SymbolTableOp,
    Visited,
    is_private,
    is_public,
    lookup_path,
    symbol_name,
    symbol_tables,
    symbol_uses,
)
from sdyopt.mlir.ir.traits import SYMBOL
from sdyopt.mlir.pipeline import Pass, Statistic
from sdyopt.mlir.registry import register


@register("symbol-dce")
class SymbolDCE(Pass):
    anchor = None

    removed = Statistic("num-dce'd", "Number of symbols DCE'd")

    def run(self, op: Op) -> bool:
        if not isinstance(op, SymbolTableOp):
            raise op.op_error(" was scheduled to run under SymbolDCE, but does not define a symbol table")
        if _keeps_all(op):
            return False
        live: set[Op] = set()
        nested: list[SymbolTableOp] = []
        _find_live(op, live, nested, is_hidden=op.parent is None or not _is_symbol(op) or is_private(op))
        rewriter = Rewriter()
        tables = dict.fromkeys([op, *[inner for table in nested for inner in symbol_tables(table)]])
        for table in reversed(tables):
            self._erase_dead(table, live, rewriter)
        return rewriter.changed

    def _erase_dead(self, table: SymbolTableOp, live: set[Op], rewriter: Rewriter) -> None:
        """Erases the symbols in a table that are not live. Counts those in erased symbol tables, too."""
        for symbol in table.regions[0].blocks[0].ops:
            if _is_symbol(symbol) and symbol not in live:
                for inner in reversed(symbol_tables(symbol)):
                    self._erase_dead(inner, live, rewriter)
                rewriter.erase(symbol)
                self.count(self.removed)


def _keeps_all(table: SymbolTableOp) -> bool:
    """Whether all symbols are certainly live, because there is no other symbol table, and calls reach them.

    Most programs are like this. Looking for calls takes less time than looking for all references.
    """
    if table.parent is not None or used_classes((UnregisteredOp,)) or table.nested(SymbolTableOp):
        return False
    # Those that are not known to be live.
    others: dict[str | None, Op] = {}
    worklist: list[Op] = []
    for op in table.regions[0].blocks[0].ops:
        if _is_symbol(op) and not is_public(op):
            others[symbol_name(op)] = op
        else:
            worklist.append(op)
    callees = _callees(table) if others else {}
    while worklist and others:
        called = callees.get(worklist.pop(), ())
        worklist += [others.pop(name) for name in dict.fromkeys(called) if name in others]
    return not others


def _callees(table: SymbolTableOp) -> dict[Op, list[str]]:
    """The functions that are called in each operation of a symbol table."""
    callees: defaultdict[Op, list[str]] = defaultdict(list)
    for call in table.nested(CallOp):
        caller: Op = call
        while (outer := caller.parent_op) is not None and outer is not table:
            caller = outer
        callees[caller].append(call.callee)
    return callees


def _find_live(table: SymbolTableOp, live: set[Op], nested: list[SymbolTableOp], is_hidden: bool) -> None:
    """Adds the live symbols in `table`, and those that they refer to.

    Adds the nested symbol tables to `nested`, except some that are nested in others. In a hidden table, a
    symbol with nested visibility is like a private one: live only if something live refers to it.
    """
    worklist = []
    for op in table.regions[0].blocks[0].ops:
        if not _is_symbol(op):
            worklist.append(op)
        elif is_public(op) or not (is_hidden or is_private(op)):
            live.add(op)
            worklist.append(op)
    # The attributes and signatures whose references were visited, per symbol table of their operations.
    visited: defaultdict[Op, set[Visited]] = defaultdict(set)
    while worklist:
        op = worklist.pop()
        if isinstance(op, SymbolTableOp):
            _find_live(op, live, nested, is_hidden or not _is_symbol(op) or is_private(op))
        parent = op.parent_op
        assert isinstance(parent, SymbolTableOp)
        uses = symbol_uses(op, visited[parent], nested)
        if uses is None:
            raise op.error(
                "operation contains potentially unknown symbol table, meaning that we can't reliable "
                "compute symbol uses"
            )
        for reference in uses:
            symbols = [symbol for symbol in lookup_path(parent, reference) if symbol not in live]
            live.update(symbols)
            worklist += symbols


def _is_symbol(op: Op) -> bool:
    return SYMBOL in op.traits and symbol_name(op) is not None
