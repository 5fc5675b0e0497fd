"""slice and pad: windows of one element."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import Padding, ReadDimension, exchange, extend, padding_of
from sdyopt.shardy.partition.halo_plan import plan_halo, reads_of_windows
from sdyopt.shardy.partition.halo_registry import Values, begin_body, exchanges_halos
from sdyopt.shardy.partition.local_builder import scalar_type, shape_of
from sdyopt.shardy.partition.sharded_body import HaloContext


@exchanges_halos(SliceOp)
def exchange_slice(op: SliceOp, context: HaloContext) -> Values:
    """A slice reads every n-th element, from its start on."""
    windows = [
        WindowDimension(1, stride, -start) for start, stride in zip(op.start_indices, op.strides, strict=True)
    ]
    reads = read_dimensions(op.operand, op.out, windows, context)
    body = None if reads is None else begin_body(op, context)
    if reads is None or body is None:
        return None
    value = body.shard_of(op.operand)
    zero = Padding(body.zero(scalar_type(value)), is_zero=True)
    starts, limits = list(op.start_indices), list(op.limit_indices)
    for read in reads:
        value = exchange(body, value, read, zero)
        starts[read.dim], limits[read.dim] = 0, read.reads.length
    if limits != list(shape_of(value)) or any(starts) or any(stride != 1 for stride in op.strides):
        value = body.slice(value, starts, limits, op.strides)
    return body.finish([value])


@exchanges_halos(PadOp)
def exchange_pad(op: PadOp, context: HaloContext) -> Values:
    """A pad reads elements from before the start of the tensor, which are padding."""
    windows = [
        WindowDimension(1, low=low, base_dilation=interior + 1)
        for low, interior in zip(op.edge_padding_low, op.interior_padding, strict=True)
    ]
    reads = read_dimensions(op.operand, op.out, windows, context)
    body = None if reads is None else begin_body(op, context)
    if reads is None or body is None:
        return None
    value = body.shard_of(op.operand, op.padding_value)
    padding = padding_of(op.padding_value, body.shard_of(op.padding_value))
    low, high, interior = list(op.edge_padding_low), list(op.edge_padding_high), list(op.interior_padding)
    for read in reads:
        extended = extend(body, value, read, padding)
        value = extended.value
        low[read.dim], high[read.dim] = extended.low, extended.high
        interior[read.dim] = extended.dilation - 1
    if any(low) or any(high) or any(interior):
        value = body.pad(value, padding.value, low, high, interior)
    return body.finish([value])


def read_dimensions(
    operand: Value, result: Value, windows: list[WindowDimension], context: HaloContext
) -> list[ReadDimension] | None:
    """What the shards read along the sharded dimensions, if operand and result are sharded alike."""
    types, reads = context.types, []
    result_axes = types.axes_per_dim(result)
    for dim, axes in enumerate(types.axes_per_dim(operand)):
        if axes != result_axes[dim]:
            return None
        if axes:
            shards = types.shard_count(axes, operand)
            sizes = shape_of(operand)[dim], shape_of(result)[dim]
            read = reads_of_windows(*sizes, shards, windows[dim])
            plan = plan_halo(read) if all(sizes) else None
            if plan is None:
                return None
            reads.append(ReadDimension(dim, axes, read, plan))
    return reads
