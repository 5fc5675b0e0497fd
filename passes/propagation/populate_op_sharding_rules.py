"""sdy-populate-op-sharding-rules: write on every operation how its dimensions belong together.

    %0 = stablehlo.add %a, %b : tensor<8xf32>
becomes
    %0 = stablehlo.add %a, %b {sdy.sharding_rule =
        #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : tensor<8xf32>

Propagation works the same rules out as it goes; this pass shows them, for tests and for whoever is
asking why an axis did not move. A rule that is there already is kept.
"""

from __future__ import annotations

from functools import cache

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING_RULE
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import FUNCTION, Pass, option
from sdyopt.registry import register
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of


@register("sdy-populate-op-sharding-rules")
class PopulateOpShardingRules(Pass):
    anchor = FUNCTION

    conservative_propagation: bool = option(
        default=False, help="give rules by which no dimension is split into parts of different sizes"
    )

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        # A program has few different dictionaries and rules.
        with_rule = cache(_with_rule)
        # Inner operations first, which decides of what people are warned.
        for op in function.walk_post_order():
            rule = sharding_rule_of(op, conservative=self.conservative_propagation)
            if rule is not None:
                rewriter.set_attributes(op, with_rule(op.attributes, rule))
        return rewriter.changed


def _with_rule(attributes: DictAttr, rule: OpShardingRule) -> DictAttr:
    return attributes.with_entry(SHARDING_RULE, rule)
