"""Windows: no communication if every window lies in one shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.partition.local_builder import shape_of
from sdyopt.partition.local_types import LocalTypes
from sdyopt.partition.replication import Dim, by_rule, crosses_shards
from sdyopt.partition.windows import SlidDimension, is_reduced, windows_of, windows_of_convolution
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of


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
        if not is_reduced(op, kernel_dim):
            found.append(Dim(1, kernel_dim))
    if op.batch_group_count > 1 and output_axes[dims.output_batch]:
        # A shard of the batch of the result has a part of each group.
        found += [Dim(0, dims.input_batch), Dim(1, dims.kernel_output_feature)]
        found += [Dim(2, dims.output_batch), Dim(2, dims.output_feature)]
    feature = dims.output_feature
    if op.feature_group_count > 1 and shape_of(op.out)[feature] % types.shard_count(
        output_axes[feature], op.out
    ):
        # Uneven shards of the features of the result do not start where groups start.
        found += [Dim(0, dims.input_feature), Dim(1, dims.kernel_output_feature), Dim(2, feature)]
    return [*found, *_result_only(op)]


def _result_only(op: ConvolutionOp) -> Iterator[Dim]:
    """The feature dimension of the result, if it has one feature: its factor is not one of the kernel."""
    rule = sharding_rule_of(op)
    if rule is None:
        return
    known = {factor for mapping in rule.operands for dim in mapping.dims for factor in dim.factors}
    feature = op.dimension_numbers.output_feature
    if not known.issuperset(rule.results[0].dims[feature].factors):
        yield Dim(2, feature)


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
