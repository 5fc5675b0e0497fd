"""sdy-remove-all-gather-reduce-scatter-for-cmv1: remove collectives next to dots for XLA's collective matmul.

    %0 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<16x32xf32>
    %1 = stablehlo.dot %a, %0 : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
becomes
    %1 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
and
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : …
    %1 = sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x32xf32>
becomes
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : …

XLA's collective matmul v1 (CM v1) overlaps communication with a windowed dot. It matches a dot whose operand
or result shardings imply the collective, not an explicit one, so this pass removes the explicit collectives.

An all-gather is removed if a dot operand is its only use. A reduce-scatter is removed if it is the only user
of the dot, unless an all-gather of an operand was removed: only one of the two can be overlapped. It is kept
if the dot result has unreduced axes, because no other operation would reduce them.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register


@register("sdy-remove-all-gather-reduce-scatter-for-cmv1")
class RemoveAllGatherReduceScatterForCMV1(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        removed: list[Op] = []
        for op in function.walk():
            if isinstance(op, DotOp | DotGeneralOp):
                removed += _removable_all_gathers(op) or _removable_reduce_scatter(op, rewriter)
        # After the walk, because the number of uses must be that of the original program.
        for op in removed:
            rewriter.replace(op, op.operands[:1])
        return rewriter.changed


def _removable_all_gathers(dot: Op) -> list[Op]:
    """The all-gathers that define operands of a dot and have no other use."""
    definitions = [operand.defining_op for operand in dot.operands]
    return [op for op in definitions if isinstance(op, AllGatherOp) and op.results[0].has_one_use]


def _removable_reduce_scatter(dot: Op, rewriter: Rewriter) -> list[Op]:
    """The reduce-scatter that is the only user of a dot. Sets its sharding on the dot."""
    result = dot.results[0]
    user = next(result.users) if result.has_one_use else None
    sharding = sharding_of(result)
    if not isinstance(user, ReduceScatterOp) or (sharding is not None and sharding.unreduced_axes):
        return []
    rewriter.set_attribute(dot, SHARDING, ShardingPerValue((user.out_sharding,)))
    return [user]
