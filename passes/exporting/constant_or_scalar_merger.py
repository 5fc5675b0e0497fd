"""sdy-constant-or-scalar-merger: let equal constants that are sharded alike be one again.

    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %d = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %d : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>
becomes
    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>

The opposite of `sdy-constant-or-scalar-splitter`, for those uses that propagation did not shard in different
ways. The first of all constants of one region with the same attributes stays; `sdy.sharding` is one of these
attributes. The same goes for broadcasts of one scalar to one type. What is computed from constants is not
merged any further.

Constants of inner regions stay where they are, because a value from outside need not be sharded alike
there. Of several blocks of a region none counts as inner, so the pass is not for functions with branches.
"""

from __future__ import annotations

from sdyopt.dialects.func import FuncOp
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import FUNCTION, Pass
from sdyopt.registry import register

from ..common.support.merge_constants import is_constant_or_expansion, merge


@register("sdy-constant-or-scalar-merger")
class ConstantOrScalarMerger(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        merge(function, is_constant_or_expansion, rewriter)
        return rewriter.changed
