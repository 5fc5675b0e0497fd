"""sdy-drop-sharding-rules: remove all sharding rules but custom ones.

    %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
becomes
    %0 = stablehlo.negate %a : tensor<8xf32>

A sharding rule can be derived from its operation, so it is kept in a program for debugging only. A rule
marked `custom` was written by the user, cannot be derived, and is kept.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register


@register("sdy-drop-sharding-rules")
class DropShardingRules(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        for op in function.walk():
            rule = op.attributes.get(SHARDING_RULE)
            if isinstance(rule, OpShardingRule) and not rule.is_custom:
                rewriter.set_attributes(op, op.attributes.without(SHARDING_RULE))
        return rewriter.changed
