"""Sharding rules of the operations that multiply and sum: dot, dot_general."""

from __future__ import annotations

from itertools import count

from sdyopt.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.dialects.stablehlo.dot_dimensions import DotDimensions
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(DotGeneralOp)
def dot_general(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j, l], [i, l, k])->([i, j, k]) reduction={l}"""
    _product(signature, rule, signature.dot_dimension_numbers)


@sharding_rule(DotOp)
def dot(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, k], [k, j])->([i, j]) reduction={k}, where i and j may be missing"""
    _product(signature, rule, DotDimensions((), (), (signature.lhs.rank - 1,), (0,)))


def _product(signature: OpSignature, rule: OpShardingRuleBuilder, dims: DotDimensions) -> None:
    lhs, rhs = signature.lhs.shape, signature.rhs.shape
    result_dims = count()
    for left, right in dims.batching:
        rule.add_factor(lhs[left], [left, right], [next(result_dims)])
    for left, size in enumerate(lhs):
        if left not in dims.lhs_batching and left not in dims.lhs_contracting:
            rule.add_factor(size, [left, None], [next(result_dims)])
    for right, size in enumerate(rhs):
        if right not in dims.rhs_batching and right not in dims.rhs_contracting:
            rule.add_factor(size, [None, right], [next(result_dims)])
    for left, right in dims.contracting:
        rule.add_factor(lhs[left], [left, right], [None], FactorType.REDUCTION)
