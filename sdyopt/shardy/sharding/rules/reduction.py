"""Sharding rules of dots, convolutions, reductions, windows and sorts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from operator import itemgetter

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.stablehlo.contraction import DotDimensions, DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.reducer import pairs_of
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.mlir.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.shardy.sharding.op_sharding_rule_builder import (
    Dims,
    FactorType,
    OpShardingRuleBuilder,
    Reduction,
    sharding_rule,
)


@sharding_rule(ReduceOp, reduction=Reduction.REGION)
def reduce(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [])->([i]) reduction={j}"""
    inputs, reduced_dims = signature[ReduceOp.inputs], signature[ReduceOp.dimensions]
    count = len(inputs)
    result_dim = 0
    for dim, size in enumerate(inputs[0].shape):
        operand_dims = [dim] * count + [None] * count
        if dim in reduced_dims:
            builder.add_factor(size, operand_dims, [None] * count, FactorType.REDUCTION)
        else:
            builder.add_factor(size, operand_dims, [result_dim] * count)
            result_dim += 1


@sharding_rule(ReduceWindowOp)
def reduce_window(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [])->([i, j]) permutation={j}: j is the number of windows, which may overlap"""
    window = _Window(
        signature[ReduceWindowOp.window_dimensions],
        signature[ReduceWindowOp.window_strides],
        signature[ReduceWindowOp.padding],
    )
    for dim, size in enumerate(signature[ReduceWindowOp.out][0].shape):
        if window.is_single_element(dim):
            builder.add_common_factor(dim, size)
        else:
            builder.add_common_factor(dim, size, FactorType.PERMUTATION, is_blocked=builder.is_conservative)


@sharding_rule(SelectAndScatterOp)
def select_and_scatter(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, k], [i, j], [])->([i, k]) need_replication={j} permutation={k}: j is the number of windows"""
    window = _Window(
        signature[SelectAndScatterOp.window_dimensions],
        signature[SelectAndScatterOp.window_strides],
        signature[SelectAndScatterOp.padding],
    )
    source = signature[SelectAndScatterOp.source].shape
    for dim, size in enumerate(signature[SelectAndScatterOp.out].shape):
        if window.is_single_element(dim):
            builder.add_common_factor(dim, size)
            continue
        is_blocked = builder.is_conservative
        builder.add_factor(source[dim], [None, dim, None], [None], FactorType.NEED_REPLICATION, is_blocked)
        builder.add_factor(size, [dim, None, None], [dim], FactorType.PERMUTATION, is_blocked)


@sharding_rule(SortOp)
def sort(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [i, j])->([i, j], [i, j]) need_replication={j}

    Propagation is blocked along the sort dimension if all other dimensions have size 1. As in Shardy, the
    factor of a sort dimension that is given by a negative number is not special.
    """
    shape, sort_dim = signature[SortOp.inputs][0].shape, signature[SortOp.dimension]
    is_blocked = all(dim == sort_dim or size == 1 for dim, size in enumerate(shape))
    for dim, size in enumerate(shape):
        if dim == sort_dim:
            builder.add_common_factor(dim, size, FactorType.NEED_REPLICATION, is_blocked)
        else:
            builder.add_common_factor(dim, size)


class _Window(NamedTuple):
    """A sliding window: sizes and strides per dimension (None: 1), and padding (None: 0)."""

    sizes: Sequence[int] | None
    strides: Sequence[int] | None
    padding: DenseElements | None

    def is_single_element(self, dim: int) -> bool:
        """Whether window n along a dimension is just element n of the operand."""
        if self.padding is not None and any(pairs_of(self.padding)[dim]):
            return False
        return all(not values or values[dim] == 1 for values in (self.sizes, self.strides))


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
        if lhs_dim not in dims.lhs_batching_dimensions and lhs_dim not in dims.lhs_contracting_dimensions:
            builder.add_factor(size, [lhs_dim, None], [next(result_dims)])
    for rhs_dim, size in enumerate(rhs_shape):
        if rhs_dim not in dims.rhs_batching_dimensions and rhs_dim not in dims.rhs_contracting_dimensions:
            builder.add_factor(size, [None, rhs_dim], [next(result_dims)])
    for lhs_dim, rhs_dim in dims.contracting:
        builder.add_factor(lhs_shape[lhs_dim], [lhs_dim, rhs_dim], [None], FactorType.REDUCTION)


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
