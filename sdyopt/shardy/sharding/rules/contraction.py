"""Sharding rules of dot and dot_general."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from sdyopt.mlir.dialects.stablehlo.contraction import DotDimensions, DotGeneralOp, DotOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.shardy.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder, Reduction
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(DotGeneralOp, reduction=Reduction.ADD)
def dot_general(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j, l], [i, l, k])->([i, j, k]) reduction={l}"""
    lhs, rhs = signature[DotGeneralOp.lhs], signature[DotGeneralOp.rhs]
    _add_factors(builder, lhs.shape, rhs.shape, signature[DotGeneralOp.dot_dimension_numbers])


@sharding_rule(DotOp, reduction=Reduction.ADD)
def dot(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, k], [k, j])->([i, j]) reduction={k}, where vectors have no i or j"""
    lhs, rhs = signature[DotOp.lhs], signature[DotOp.rhs]
    _add_factors(builder, lhs.shape, rhs.shape, DotDimensions((), (), (lhs.rank - 1,), (0,)))


def _add_factors(
    builder: OpShardingRuleBuilder, lhs_shape: Sequence[int], rhs_shape: Sequence[int], dims: DotDimensions
) -> None:
    result_dims = count()
    for lhs_dim, rhs_dim in dims.batching:
        builder.add_factor(lhs_shape[lhs_dim], [lhs_dim, rhs_dim], [next(result_dims)])
    for lhs_dim, size in enumerate(lhs_shape):
        if lhs_dim not in dims.lhs_batching and lhs_dim not in dims.lhs_contracting:
            builder.add_factor(size, [lhs_dim, None], [next(result_dims)])
    for rhs_dim, size in enumerate(rhs_shape):
        if rhs_dim not in dims.rhs_batching and rhs_dim not in dims.rhs_contracting:
            builder.add_factor(size, [None, rhs_dim], [next(result_dims)])
    for lhs_dim, rhs_dim in dims.contracting:
        builder.add_factor(lhs_shape[lhs_dim], [lhs_dim, rhs_dim], [None], FactorType.REDUCTION)
