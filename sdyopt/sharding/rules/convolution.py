"""The sharding rule of convolutions."""

from __future__ import annotations

from operator import itemgetter

from sdyopt.dialects.stablehlo.conv_dimensions import ConvDimensions
from sdyopt.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import Dims, FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule

_Factor = tuple[int, Dims, Dims, FactorType]


@sharding_rule(ConvolutionOp)
def convolution(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, jk, l], [k, l, m])->([i, j, m]) reduction={k, l} permutation={j}

    i is the batch, j slides, k is the window, l the input features, m the output features. Groups of
    batches or features are a factor before those.
    """
    dims: ConvDimensions = signature.dimension_numbers
    kernel, result = signature.rhs.shape, signature.out.shape
    batch_groups, feature_groups = signature.batch_group_count, signature.feature_group_count
    if batch_groups > 1:
        rule.add_factor(batch_groups, [dims.input_batch, dims.kernel_output_feature], [dims.output_feature])
    rule.add_factor(result[dims.output_batch], [dims.input_batch, None], [dims.output_batch])
    if not rule.is_conservative:
        for spatial in zip(dims.input_spatial, dims.kernel_spatial, dims.output_spatial, strict=True):
            _spatial_factors(signature, rule, *spatial)
    if feature_groups > 1:
        rule.add_factor(
            feature_groups, [dims.input_feature, dims.kernel_output_feature], [dims.output_feature]
        )
    rule.add_factor(
        kernel[dims.kernel_input_feature],
        *([dims.input_feature, dims.kernel_input_feature], [None]),
        FactorType.REDUCTION,
    )
    output_features = result[dims.output_feature] // (batch_groups * feature_groups)
    if output_features > 1:
        rule.add_factor(output_features, [None, dims.kernel_output_feature], [dims.output_feature])


def _spatial_factors(
    signature: OpSignature, rule: OpShardingRuleBuilder, dim: int, kernel_dim: int, result_dim: int
) -> None:
    """The input may be split into windows, or along the window; the larger of the two is major."""
    sliding: _Factor = signature.out.shape[result_dim], [dim, None], [result_dim], FactorType.PERMUTATION
    window: _Factor = signature.rhs.shape[kernel_dim], [dim, kernel_dim], [None], FactorType.REDUCTION
    left: int = signature.lhs.shape[dim]
    for wanted, operand_dims, result_dims, factor_type in sorted(
        (sliding, window), key=itemgetter(0), reverse=True
    ):
        size = min(wanted, left)
        if size > 1:
            rule.add_factor(size, operand_dims, result_dims, factor_type)
            left //= size
