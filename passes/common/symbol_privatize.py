"""symbol-privatize: make symbols private.

    func.func @main() { return }
    func.func @helper() { return }
becomes, with exclude=main,
    func.func @main() { return }
    func.func private @helper() { return }

The pass marks the symbols directly in the operation that it runs on, so that `symbol-dce` removes those that
nothing refers to. Symbols in nested symbol tables keep their visibility.
"""

from __future__ import annotations

from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import SYM_VISIBILITY, symbol_name
from sdyopt.mlir.ir.traits import SYMBOL
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register


@register("symbol-privatize")
class SymbolPrivatize(Pass):
    anchor = None

    exclude: tuple[str, ...] = option(default=(), help="the symbols that keep their visibility")

    def run(self, op: Op) -> bool:
        rewriter = Rewriter()
        for region in op.regions:
            for block in region.blocks:
                for symbol in block.ops:
                    name = symbol_name(symbol)
                    if SYMBOL in symbol.traits and name is not None and name not in self.exclude:
                        rewriter.set_attribute(symbol, SYM_VISIBILITY, StringAttr("private"))
        return rewriter.changed
