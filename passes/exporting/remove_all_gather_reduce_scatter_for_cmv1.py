"""sdy-remove-all-gather-reduce-scatter-for-cmv1: leave data movement next to matrix products to XLA.

    %0 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<16x32xf32>
    %1 = stablehlo.dot %a, %0 : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
becomes
    %1 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
and
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : …
    %1 = sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x32xf32>
becomes
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : …

The first version of XLA's collective matmul (CM v1) overlaps communication with parts of a product. For
that it has to find the product with the shardings on either side, and the collective not yet there.

An all-gather is dropped if the product is its only user. A reduce-scatter is dropped if it is the only
user of the product, unless an all-gather has been dropped before the same product: only one of them can be
overlapped. It also stays if the product still has unreduced axes, which nobody would reduce otherwise.
"""

from __future__ import annotations

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.collectives import AllGatherOp, ReduceScatterOp
from sdyopt.dialects.sdy.sharding import ShardingPerValue
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register


@register("sdy-remove-all-gather-reduce-scatter-for-cmv1")
class RemoveAllGatherReduceScatterForCMV1(Pass):
    anchor = "func.func"

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        dropped: list[Op] = []
        for op in function.walk():
            if isinstance(op, DotOp | DotGeneralOp):
                dropped += _all_gathers_before(op) or _reduce_scatter_behind(op, rewriter)
        # Only now: uses are counted as they were before.
        for op in dropped:
            rewriter.replace(op, op.operands[:1])
        return rewriter.changed


def _all_gathers_before(dot: Op) -> list[Op]:
    """The all-gathers of operands that nobody else uses."""
    definitions = [operand.defining_op for operand in dot.operands]
    return [op for op in definitions if isinstance(op, AllGatherOp) and op.results[0].has_one_use]


def _reduce_scatter_behind(dot: Op, rewriter: Rewriter) -> list[Op]:
    """The reduce-scatter that alone uses the result of a product, which gets its sharding."""
    result = dot.results[0]
    user = next(result.users) if result.has_one_use else None
    sharding = sharding_of(result)
    if not isinstance(user, ReduceScatterOp) or (sharding is not None and sharding.unreduced_axes):
        return []
    rewriter.set_attribute(dot, SHARDING, ShardingPerValue((user.out_sharding,)))
    return [user]
