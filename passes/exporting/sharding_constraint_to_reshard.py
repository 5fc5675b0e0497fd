"""sdy-sharding-constraint-to-reshard: turn wishes about shardings into changes of sharding.

    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
becomes
    %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>

A constraint is what a user writes: propagation takes it into account on both sides of the operation.
After propagation it means no more than that here the value has this sharding, whatever it had before,
which is what a reshard says. Later passes know reshards only, and remove those that change nothing.
"""

from __future__ import annotations

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.ops import ReshardOp, ShardingConstraintOp
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import FUNCTION, Pass
from sdyopt.registry import register


@register("sdy-sharding-constraint-to-reshard")
class ShardingConstraintToReshard(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        for op in list(function.walk()):
            if isinstance(op, ShardingConstraintOp):
                _replace(rewriter, op)
        return rewriter.changed


def _replace(rewriter: Rewriter, op: ShardingConstraintOp) -> None:
    reshard = rewriter.create(
        ReshardOp,
        op.operands,
        op.form.result_types,
        {"sharding": op.sharding},
        before=op,
        location=op.location,
    )
    rewriter.set_attributes(reshard, op.attributes)
    rewriter.replace(op, reshard)
