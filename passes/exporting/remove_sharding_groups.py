"""sdy-remove-sharding-groups: remove all sharding groups.

    sdy.sharding_group %a group_id = 1 : tensor<8xf32>
is removed.

All values of a sharding group must have equal shardings. Propagation has ensured that before this pass runs,
and later passes do not support groups.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.ops import ShardingGroupOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


@register("sdy-remove-sharding-groups")
class RemoveShardingGroups(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(ShardingGroupOp):
            rewriter.erase(op)
        return rewriter.changed
