"""sdy-constant-or-scalar-merger: merge equal constants with equal shardings.

    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %d = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %d : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>
becomes
    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>

The inverse of `sdy-constant-or-scalar-splitter`, for uses that propagation sharded alike. Of the constants in
a region that have equal attributes, `sdy.sharding` included, the first replaces the others. Equal broadcasts
of one scalar are merged in the same way. Other operations on constants are not merged.

Constants are merged within one region only, because a region may shard a value differently from the regions
around it. All blocks of a region count as one, so the pass does not support regions with several blocks: the
first constant may not dominate all uses.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from ..common.support.constants import is_constant_or_scalar_broadcast, merge_constants


@register("sdy-constant-or-scalar-merger")
class ConstantOrScalarMerger(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        merge_constants(function, is_constant_or_scalar_broadcast, rewriter)
        return rewriter.changed
