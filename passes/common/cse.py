"""cse: eliminate common subexpressions.

    %0 = stablehlo.add %a, %b : tensor<8xf32>
    %1 = stablehlo.add %a, %b : tensor<8xf32>
    return %0, %1
becomes
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    return %0, %0

Of several equal operations without memory effects, the pass keeps the first. Two operations are equal if they
have the same name, attributes (discardable ones such as shardings included), types, operands and regions;
operands of a commutative operation may differ in order. The first operation must be earlier in the same
block, in a dominating block, or in an enclosing block. Operations with a region of several blocks are kept.
Dead operations are erased too.
"""

from __future__ import annotations

from sdyopt.mlir.ir.cse import CseDriver
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass, Statistic
from sdyopt.mlir.registry import register


@register("cse")
class CSE(Pass):
    anchor = None

    merged = Statistic("num-cse'd", "Number of operations CSE'd")
    removed = Statistic("num-dce'd", "Number of operations DCE'd")

    def run(self, op: Op) -> bool:
        rewriter = Rewriter()
        cse = CseDriver(rewriter)
        for region in op.regions:
            cse.visit_region(region)
        cse.finish()
        self.count(self.merged, cse.merged)
        self.count(self.removed, cse.removed)
        return rewriter.changed
