"""sdy-sharding-constraint-to-reshard: replace sharding constraints with reshards.

    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
becomes
    %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>

A constraint propagates both to its uses and to its input. After propagation a constraint only means that its
result has this sharding, whatever sharding its input has: it is a reshard. Later passes handle reshards only,
and remove the redundant ones.

The pass is a dialect conversion, which also folds operations that compute an existing value.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, ShardingConstraintOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from ..common.support.dialect_conversion import ConversionPattern, convert


@register("sdy-sharding-constraint-to-reshard")
class ShardingConstraintToReshard(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        convert(function, ConversionPattern(ShardingConstraintOp, _reshard), rewriter, legal=[ReshardOp])
        return rewriter.changed


def _reshard(op: ShardingConstraintOp, operands: Sequence[Value], rewriter: Rewriter) -> Sequence[Value]:
    attributes = {**dict(op.attributes), "sharding": op.sharding}
    types = op.signature.result_types
    return rewriter.create(
        ReshardOp, operands, types, attributes, before=op, location=op.lazy_location
    ).results
