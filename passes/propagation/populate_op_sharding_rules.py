"""sdy-populate-op-sharding-rules: attach sharding rules to operations.

    %0 = stablehlo.add %a, %b : tensor<8xf32>
becomes
    %0 = stablehlo.add %a, %b {sdy.sharding_rule =
        #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : tensor<8xf32>

Propagation derives the same rules; this pass makes them visible, for tests and to find out why an axis does
not propagate. Existing rules are kept. Operations without a rule get none; the first unknown operation gets a
warning.
"""

from __future__ import annotations

from functools import cache

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


@register("sdy-populate-op-sharding-rules")
class PopulateOpShardingRules(Pass):
    anchor = FUNCTION

    conservative_propagation: bool = option(
        default=False,
        help="derive rules that propagate nothing along sliced, padded, concatenated or windowed dimensions",
    )

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        # A program has few distinct attribute dictionaries and rules.
        with_rule = cache(lambda attributes, rule: attributes.with_entry(SHARDING_RULE, rule))
        # Nested operations first: only the first unknown operation gets a warning.
        for op in function.walk_post_order():
            rule = sharding_rule_of(op, is_conservative=self.conservative_propagation)
            if rule is not None:
                rewriter.set_attributes(op, with_rule(op.attributes, rule))
        return rewriter.changed
