"""cse: of several pure operations that compute the same, keep the first.

    %0 = stablehlo.add %a, %b : tensor<8xf32>
    %1 = stablehlo.add %a, %b : tensor<8xf32>
    return %0, %1
becomes
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    return %0, %0

Two operations are the same if name, attributes (discardable ones, shardings among them, included), types,
operands and regions are; the operands of a commutative one may come in any order. An operation finds its like
before it in its block, in a block that is always run first, or in a block around it. Operations that nobody
uses go as well.
"""

from __future__ import annotations

from sdyopt.ir.cse import CommonSubexpressions
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass, Statistic
from sdyopt.registry import register


@register("cse")
class CSE(Pass):
    anchor = None

    merged = Statistic("num-cse'd", "Number of operations CSE'd")
    removed = Statistic("num-dce'd", "Number of operations DCE'd")

    def run(self, op: Op) -> bool:
        rewriter = Rewriter()
        merging = CommonSubexpressions(rewriter)
        for region in op.regions:
            merging.region(region)
        merging.finish()
        self.count(self.merged, merging.merged)
        self.count(self.removed, merging.removed)
        return rewriter.changed
