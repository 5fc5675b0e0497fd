"""The sharding rule of normalising batches by known figures."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.batch_norm import BatchNormInferenceOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(BatchNormInferenceOp)
def batch_norm_inference(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j], [j], [j], [j], [j])->([i, j]): there is one of each figure per feature"""
    for dim, size in enumerate(signature.operand.shape):
        figure_dims = [0 if dim == signature.feature_index else None] * 4
        rule.add_factor(size, [dim, *figure_dims], [dim])
