"""Sharding rules of linear algebra and signals: cholesky, triangular_solve, fft."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.linear_algebra import CholeskyOp, FftOp, TriangularSolveOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(CholeskyOp)
def cholesky(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j, k])->([i, j, k]) need_replication={j, k}"""
    shape = signature.a.shape
    rule.add_pointwise(shape[:-2])
    for dim in (len(shape) - 2, len(shape) - 1):
        rule.add_common_factor(dim, shape[dim], FactorType.NEED_REPLICATION)


@sharding_rule(TriangularSolveOp)
def triangular_solve(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j, l], [i, j, k])->([i, l, k]) need_replication={j, k, l}, which is a * out = b

    A factor is of a and b, one of b and the result, one of the result and a, over which is summed.
    """
    a, b = signature.a.shape, signature.b.shape
    rule.add_pointwise(a[:-2])
    rows, columns = len(a) - 2, len(a) - 1
    # Of a: the dimension that b has as well, and the one that is summed over.
    is_transposed = signature.transpose_a.value in ("TRANSPOSE", "ADJOINT")
    kept, summed = (rows, columns) if signature.left_side != is_transposed else (columns, rows)
    # Of b: the dimension that a has as well, and the one that the result has as well.
    shared, free = (rows, columns) if signature.left_side else (columns, rows)
    for dim in (rows, columns):
        if dim == shared:
            rule.add_factor(a[kept], [kept, shared], [None], FactorType.NEED_REPLICATION)
        else:
            rule.add_factor(b[free], [None, free], [free], FactorType.NEED_REPLICATION)
    rule.add_factor(a[summed], [summed, None], [shared], FactorType.NEED_REPLICATION)


@sharding_rule(FftOp)
def fft(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j, k])->([i, j, k]) need_replication={j, k}, and k blocked if the result has less of it"""
    shape = signature.operand.shape
    batch_rank = len(shape) - len(signature.fft_length)
    rule.add_pointwise(shape[:batch_rank])
    for dim in range(batch_rank, len(shape)):
        is_cut = dim == len(shape) - 1 and shape[dim] != signature.out.shape[dim]
        rule.add_common_factor(dim, shape[dim], FactorType.NEED_REPLICATION, is_blocked=is_cut)
