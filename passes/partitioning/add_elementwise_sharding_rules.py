"""sdy-add-elementwise-sharding-rules: add sharding rules to elementwise operations that have none.

    %0 = chlo.square %a : tensor<8x4xf32>
becomes
    %0 = chlo.square %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>} : …

Operations of chlo have no sharding rule, so propagation stops at them, and their operands would be
replicated. Programs are usually partitioned after chlo has been lowered to stablehlo; this pass is for those
that are not. `chlo.top_k` gets a rule as well, by which all dimensions but the last may be sharded.
`sdy-drop-sharding-rules` removes the rules.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.chlo_rules import chlo_rule_of


@register("sdy-add-elementwise-sharding-rules")
class AddElementwiseShardingRules(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.walk():
            rule = chlo_rule_of(op)
            if rule is not None and SHARDING_RULE not in op.attributes:
                rewriter.set_attribute(op, SHARDING_RULE, rule)
        return rewriter.changed
