"""sdy-pre-order-funcs: sort functions so that callers come before their callees.

    func.func private @f() { return }
    func.func @main() { call @f() : () -> () … }
becomes
    func.func @main() { call @f() : () -> () … }
    func.func private @f() { return }

Propagation visits operations from top to bottom, and its result depends on that order. With callees after
their callers, operations are visited in about the same order as after inlining. Declarations are not moved.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.call_graph import CallGraph


@register("sdy-pre-order-funcs")
class PreOrderFuncs(Pass):
    def run(self, module: ModuleOp) -> bool:
        functions = CallGraph(module).callees_first()[::-1]
        if functions == list(module.block.ops)[-len(functions) :]:
            return False
        rewriter = Rewriter()
        for function in functions:
            rewriter.move(function, at_end_of=module.block)
        return rewriter.changed
