"""stablehlo.if and optimization_barrier: values that become results are resharded to the results' shardings.

sdy has data-flow edges for case, but none for if.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.sharding import fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.dialects.stablehlo.control_flow import IfOp, OptimizationBarrierOp

from .unreduced_uses import PartialUseResharder


def reshard_barrier_operands(op: OptimizationBarrierOp, resharder: PartialUseResharder) -> None:
    """Reshards the operands of a barrier, where its results have other shardings."""
    for use, result in zip(op.operand_uses, op.results, strict=True):
        after = sharding_of(result)
        if after is not None:
            resharder.reshard(use, after, {"before": op}, True)


def reshard_branches(op: IfOp, resharder: PartialUseResharder) -> None:
    """Reshards the values that the branches return; a result without a sharding is replicated."""
    for region in op.regions:
        returned = region.blocks[0].last
        assert returned is not None
        for use, result in zip(returned.operand_uses, op.results, strict=True):
            before, after = sharding_of(use.value), sharding_of(result)
            if after is None and before is not None:
                after = fully_replicated(rank_of(result.type), before.mesh_or_ref, is_closed=True)
            if after is not None:
                resharder.reshard(use, after, {"before": returned}, True)
