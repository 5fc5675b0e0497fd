"""Top-k operations whose operand was resharded for them, although the largest elements of shards are enough.

    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x1024xf32>
    %2:2 = stablehlo.custom_call @mhlo.topk(%1) … : (tensor<8x1024xf32>) -> (tensor<8x4xf32>, tensor<8x4xi32>)
becomes, if %0 is sharded along the second dimension, a manual computation of %0, whose results are replicated
along this dimension, and reshards of the results.
"""

from __future__ import annotations

from math import prod

from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.sharded_body import HaloContext, begin_body, may_exchange
from sdyopt.shardy.partition.top_k import TopK, exchange_largest, top_k_of

from ...exporting.explicit_reshards.insertion import apply_plan
from ...exporting.explicit_reshards.reshard_plan import ReshardPlan
from .without_reshards import erase_unused


def exchange_top_k(op: Op, context: HaloContext) -> bool:
    """Exchanges the largest elements of shards instead of the shards; returns whether it did so."""
    top_k = top_k_of(op)
    if top_k is None:
        return False
    reshard, source = top_k.operand.defining_op, top_k.operand
    if isinstance(reshard, ReshardOp):
        source = reshard.input
    sharding = context.types.sharding(source)
    if sharding is None or not sharding.dims[-1].axes or sharding.unreduced_axes:
        return False
    axes, mesh = sharding.dims[-1].axes, context.types.mesh(sharding)
    if mesh is None or not may_exchange(mesh):
        return False
    if not top_k.is_worth_exchanging(context.types.shard_count(axes, source), _is_gathered(top_k, context)):
        return False
    rewriter, last = context.rewriter, sharding.rank - 1
    rewriter.set_operand(op.operand_uses[0], source)
    replicated = sharding.with_dims(
        DimensionSharding() if number == last else dim for number, dim in enumerate(sharding.dims)
    )
    plan = ReshardPlan(sharding.mesh_or_ref, results=((0, replicated), (1, replicated)))
    apply_plan(op, plan, rewriter)
    body = begin_body(op, context)
    assert body is not None
    rewriter.replace(op, exchange_largest(top_k, body, axes))
    if isinstance(reshard, ReshardOp):
        erase_unused([reshard], rewriter)
    return True


def _is_gathered(top_k: TopK, context: HaloContext) -> bool:
    """Whether the operand is or would be gathered for the operation, not sharded along other dimensions."""
    reshard = top_k.operand.defining_op
    if not isinstance(reshard, ReshardOp):
        return True
    return _shards(reshard.result, context) < _shards(reshard.input, context)


def _shards(value: Value, context: HaloContext) -> int:
    return prod(context.types.shard_count(axes, value) for axes in context.types.axes_per_dim(value))
