"""Windows: free of communication if every window lies in one shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.partition.local_types import LocalTypes
from sdyopt.partition.replication import Dim, by_rule, crosses_shards
from sdyopt.partition.windows import SlidDimension, windows_of, windows_of_convolution


@crosses_shards(ConvolutionOp, has_windows=True)
def convolution(op: ConvolutionOp, types: LocalTypes) -> Iterable[Dim]:
    """Windows that cross a border. The kernel may be sharded where the left operand is whole."""
    dims = op.dimension_numbers
    output_dims = dict(zip(dims.input_spatial, dims.output_spatial, strict=True))
    crossing = [slid for slid in windows_of_convolution(op, types) if _crosses(slid, types)]
    return [each for slid in crossing for each in (Dim(0, slid.dim), Dim(2, output_dims[slid.dim]))]


@crosses_shards(ReduceWindowOp, has_windows=True)
def reduce_window(op: ReduceWindowOp, types: LocalTypes) -> Iterator[Dim]:
    """Windows that cross a border."""
    for slid in windows_of(op, types):
        if _crosses(slid, types):
            for number in range(len(op.inputs)):
                yield Dim(number, slid.dim)
                yield Dim(2 * len(op.inputs) + number, slid.dim)


@crosses_shards(SelectAndScatterOp)
def select_and_scatter(op: SelectAndScatterOp, types: LocalTypes) -> Iterable[Dim]:
    """All windows of more than one element, because the source is whole by the sharding rule."""
    return by_rule(op, types)


def _crosses(slid: SlidDimension, types: LocalTypes) -> bool:
    return bool(slid.axes) and not slid.is_local(types.shard_size(slid.global_size, slid.axes, slid.operand))
