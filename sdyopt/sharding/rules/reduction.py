"""Sharding rules of the operations that put elements together, or in order."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.dialects.stablehlo.window import pairs_of
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(ReduceOp)
def reduce(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j], [])->([i]) reduction={j}"""
    count = len(signature.inputs)
    result_dim = 0
    for dim, size in enumerate(signature.inputs[0].shape):
        operand_dims = [dim] * count + [None] * count
        if dim in signature.dimensions:
            rule.add_factor(size, operand_dims, [None] * count, FactorType.REDUCTION)
        else:
            rule.add_factor(size, operand_dims, [result_dim] * count)
            result_dim += 1


@sharding_rule(ReduceWindowOp)
def reduce_window(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j], [])->([i, j]) permutation={j}: j is as many windows as there are, at most partly apart"""
    for dim, size in enumerate(signature.out[0].shape):
        if _is_window_of_one(signature, dim):
            rule.add_common_factor(dim, size)
        else:
            rule.add_common_factor(dim, size, FactorType.PERMUTATION, is_blocked=rule.is_conservative)


@sharding_rule(SelectAndScatterOp)
def select_and_scatter(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, k], [i, j], [])->([i, k]) need_replication={j} permutation={k}: j are windows, of the source"""
    for dim, size in enumerate(signature.out.shape):
        if _is_window_of_one(signature, dim):
            rule.add_common_factor(dim, size)
            continue
        is_blocked = rule.is_conservative
        source_size = signature.source.shape[dim]
        rule.add_factor(source_size, [None, dim, None], [None], FactorType.NEED_REPLICATION, is_blocked)
        rule.add_factor(size, [dim, None, None], [dim], FactorType.PERMUTATION, is_blocked)


@sharding_rule(SortOp)
def sort(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j], [i, j])->([i, j], [i, j]) need_replication={j}

    Propagation is blocked along the dimension that is sorted if that is the only one of any size.
    """
    shape = signature.inputs[0].shape
    is_blocked = all(dim == signature.dimension or size == 1 for dim, size in enumerate(shape))
    for dim, size in enumerate(shape):
        if dim == signature.dimension:
            rule.add_common_factor(dim, size, FactorType.NEED_REPLICATION, is_blocked)
        else:
            rule.add_common_factor(dim, size)


def _is_window_of_one(signature: OpSignature, dim: int) -> bool:
    """Whether the window is a single element along a dimension, and moves on by one."""
    if signature.padding is not None and any(pairs_of(signature.padding)[dim]):
        return False
    return all(
        not sizes or sizes[dim] == 1 for sizes in (signature.window_dimensions, signature.window_strides)
    )
