"""Windows: no communication if every window lies in one shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards
from sdyopt.shardy.partition.windows import SlidDimension, is_reduced, windows_of, windows_of_convolution


@crosses_shards(ConvolutionOp, has_windows=True)
def convolution(op: ConvolutionOp, types: LocalTypes) -> Iterable[Dim]:
    """Spatial dimensions whose windows cross a border between shards, and kernel dimensions without sums.

    The kernel may be sharded along a spatial dimension with a reduction factor: devices then have partial
    sums.
    """
    dims, output_axes = op.dimension_numbers, types.axes_per_dim(op.out)
    found = []
    windows = windows_of_convolution(op, types)
    for slid, kernel_dim, output_dim in zip(windows, dims.kernel_spatial, dims.output_spatial, strict=True):
        is_partial_sum = bool(slid.window_axes)
        if _crosses(slid, types) or (slid.axes != output_axes[output_dim] and not is_partial_sum):
            found += [Dim(0, slid.dim), Dim(2, output_dim)]
        elif is_partial_sum:
            found.append(Dim(2, output_dim))
        if not is_reduced(op, kernel_dim):
            found.append(Dim(1, kernel_dim))
    if op.batch_group_count > 1 and output_axes[dims.output_batch]:
        # A shard of the batch of the result has a part of each group.
        found += [Dim(0, dims.input_batch), Dim(1, dims.kernel_output_feature)]
        found += [Dim(2, dims.output_batch), Dim(2, dims.output_feature)]
    if cuts_groups(op, types):
        found += _group_dims(op)
    if replicates_sums_of_groups(op, types):
        found.append(Dim(1, dims.kernel_input_feature))
    kernel_feature, feature = dims.kernel_output_feature, dims.output_feature
    if types.axes_per_dim(op.rhs)[kernel_feature] != output_axes[feature]:
        # A kernel with one output feature: its factor is not the one of the result.
        found += [Dim(1, kernel_feature), Dim(2, feature)]
    return found


def cuts_groups(op: ConvolutionOp, types: LocalTypes) -> bool:
    """Whether the shards of a grouped convolution are neither whole groups nor equal parts of one group."""
    groups = max(op.feature_group_count, op.batch_group_count)
    if groups == 1:
        return False
    values = (op.lhs, op.rhs, op.out)
    for number, dim in _group_dims(op):
        value = values[number]
        shards = types.shard_count(types.axes_per_dim(value)[dim], value)
        if shape_of(value)[dim] % shards or (groups % shards and shards % groups):
            return True
    return False


def replicates_sums_of_groups(op: ConvolutionOp, types: LocalTypes) -> bool:
    """Whether the input features of groups, which are summed, must be whole.

    If shards cut groups, they cannot be parts of the features of groups. A group of one feature has none.
    """
    features = shape_of(op.rhs)[op.dimension_numbers.kernel_input_feature]
    return op.feature_group_count > 1 and (features == 1 or cuts_groups(op, types))


def _group_dims(op: ConvolutionOp) -> Iterator[Dim]:
    """The dimensions that consist of groups."""
    dims = op.dimension_numbers
    yield Dim(0, dims.input_feature if op.feature_group_count > 1 else dims.input_batch)
    yield Dim(1, dims.kernel_output_feature)
    yield Dim(2, dims.output_feature)


@crosses_shards(ReduceWindowOp, has_windows=True)
def reduce_window(op: ReduceWindowOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions whose windows cross a border between shards."""
    for slid in windows_of(op, types):
        outputs = types.axes_per_dim(op.results[0])
        if _crosses(slid, types) or slid.axes != outputs[slid.dim]:
            for number in range(len(op.inputs)):
                yield Dim(number, slid.dim)
                yield Dim(2 * len(op.inputs) + number, slid.dim)


@crosses_shards(SelectAndScatterOp)
def select_and_scatter(op: SelectAndScatterOp, types: LocalTypes) -> Iterable[Dim]:
    """The dimensions by the rule: those with windows of more than one element."""
    return by_rule(op, types)


def _crosses(slid: SlidDimension, types: LocalTypes) -> bool:
    return bool(slid.axes) and not slid.is_local(types.shard_size(slid.global_size, slid.axes, slid.operand))
