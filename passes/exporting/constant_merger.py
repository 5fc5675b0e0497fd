"""sdy-constant-merger: merge equal constants; older version of -sdy-constant-or-scalar-merger.

    %c = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
    %d = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %c, %d : tensor<8xf32>
becomes
    %c = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %c, %c : tensor<8xf32>

The inverse of `sdy-constant-splitter`, superseded by `sdy-constant-or-scalar-merger`. Unlike the newer pass,
it does not merge broadcasts of scalars.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from ..common.support.constants import is_constant, merge_constants


@register("sdy-constant-merger")
class ConstantMerger(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        merge_constants(function, is_constant, rewriter)
        return rewriter.changed
