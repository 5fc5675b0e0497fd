"""The sharding rule of convolutions."""

from __future__ import annotations

from operator import itemgetter

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.shardy.sharding.op_sharding_rule_builder import Dims, FactorType, OpShardingRuleBuilder, Reduction
from sdyopt.shardy.sharding.op_sharding_rule_table import sharding_rule

_Factor = tuple[int, Dims, Dims, FactorType]


@sharding_rule(ConvolutionOp, reduction=Reduction.ADD)
def convolution(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, jk, l], [k, l, m])->([i, j, m]) reduction={k, l} permutation={j}, or, if windows overlap,
    ([i, j, l], [k, l, m])->([i, j, m]) reduction={l} permutation={j, k}

    i is the batch, j the output window positions, k the kernel window, l the input features, m the output
    features. Batch groups and feature groups, if any, are factors of their own.
    """
    dims = signature[ConvolutionOp.dimension_numbers]
    kernel, result = signature[ConvolutionOp.rhs].shape, signature[ConvolutionOp.out].shape
    batch_groups = signature[ConvolutionOp.batch_group_count]
    feature_groups = signature[ConvolutionOp.feature_group_count]
    if batch_groups > 1:
        builder.add_factor(
            batch_groups,
            [dims.input_batch_dimension, dims.kernel_output_feature_dimension],
            [dims.output_feature_dimension],
        )
    builder.add_factor(
        result[dims.output_batch_dimension], [dims.input_batch_dimension, None], [dims.output_batch_dimension]
    )
    if not builder.is_conservative:
        for spatial in zip(
            dims.input_spatial_dimensions,
            dims.kernel_spatial_dimensions,
            dims.output_spatial_dimensions,
            strict=True,
        ):
            _add_spatial_factors(signature, builder, *spatial)
    if feature_groups > 1:
        builder.add_factor(
            feature_groups,
            [dims.input_feature_dimension, dims.kernel_output_feature_dimension],
            [dims.output_feature_dimension],
        )
    builder.add_factor(
        kernel[dims.kernel_input_feature_dimension],
        *([dims.input_feature_dimension, dims.kernel_input_feature_dimension], [None]),
        FactorType.REDUCTION,
    )
    output_features = result[dims.output_feature_dimension] // (batch_groups * feature_groups)
    if output_features > 1:
        builder.add_factor(
            output_features, [None, dims.kernel_output_feature_dimension], [dims.output_feature_dimension]
        )


def _add_spatial_factors(
    signature: OpSignature, builder: OpShardingRuleBuilder, dim: int, kernel_dim: int, result_dim: int
) -> None:
    """Adds a factor for the window positions and a factor for the window itself; the larger factor is major.

    Their product is at most the size of the input dimension. The second factor does not belong to the input
    if the first one leaves no room for it. A factor of size 1 is left out.
    """
    result_size = signature[ConvolutionOp.out].shape[result_dim]
    window_size = signature[ConvolutionOp.rhs].shape[kernel_dim]
    positions: _Factor = result_size, [dim, None], [result_dim], FactorType.PERMUTATION
    window: _Factor = window_size, [dim, kernel_dim], [None], FactorType.REDUCTION
    remaining_size = signature[ConvolutionOp.lhs].shape[dim]
    for factor_size, operand_dims, result_dims, factor_type in sorted(
        (positions, window), key=itemgetter(0), reverse=True
    ):
        size = min(factor_size, remaining_size)
        if size > 1:
            builder.add_factor(size, operand_dims, result_dims, factor_type)
            remaining_size //= size
        elif factor_size > 1 and Behavior.SMALL_WINDOW_FACTORS.active:
            without_input = [None, *operand_dims[1:]]
            builder.add_factor(factor_size, without_input, result_dims, FactorType.PERMUTATION)
