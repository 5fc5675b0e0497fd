"""The sharding rule of batch_norm_inference."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.batch_norm import BatchNormInferenceOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(BatchNormInferenceOp)
def batch_norm_inference(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [j], [j], [j], [j])->([i, j]): the vectors have one element per feature"""
    feature_dim = signature[BatchNormInferenceOp.feature_index]
    for dim, size in enumerate(signature[BatchNormInferenceOp.operand].shape):
        vector_dims = [0 if dim == feature_dim else None] * 4
        builder.add_factor(size, [dim, *vector_dims], [dim])
