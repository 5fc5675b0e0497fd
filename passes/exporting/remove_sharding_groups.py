"""sdy-remove-sharding-groups: remove the operations that put values into groups.

    sdy.sharding_group %a group_id = 1 : tensor<8xf32>
goes.

A group says that its values are to be sharded alike. By the time of this pass propagation has seen to
that, and nothing that follows knows what a group is.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.ops import ShardingGroupOp
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register


@register("sdy-remove-sharding-groups")
class RemoveShardingGroups(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.walk_post_order():
            if isinstance(op, ShardingGroupOp):
                rewriter.erase(op)
        return rewriter.changed
