"""sdy-pre-order-funcs: put callers before what they call.

    func.func private @f() { return }
    func.func @main() { call @f() : () -> () … }
becomes
    func.func @main() { call @f() : () -> () … }
    func.func private @f() { return }

Propagation visits operations from the top to the bottom, and its result depends on that order. If a
function stands behind its callers, its body is visited as if it stood where it is called, as after
inlining. Declarations, which have no body, stay where they are.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.call_graph import callees_first


@register("sdy-pre-order-funcs")
class PreOrderFuncs(Pass):
    def run(self, module: ModuleOp) -> bool:
        functions = callees_first(module)[::-1]
        if functions == list(module.block.ops)[-len(functions) :]:
            return False
        rewriter = Rewriter()
        for function in functions:
            rewriter.move(function, at_end_of=module.block)
        return rewriter.changed
