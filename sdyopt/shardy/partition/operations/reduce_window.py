"""`reduce_window` and `select_and_scatter`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.compare_select import CompareOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension, checked_window, padding_pairs
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import element_size
from sdyopt.mlir.ir.floats import Specials, nan_bits
from sdyopt.mlir.ir.types import I1, I64, FloatType, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import binary_body
from sdyopt.shardy.partition.halo_exchange import (
    Padding,
    ReadDimension,
    crop,
    element_index,
    exchange,
    padding_of,
    read_dimensions,
)
from sdyopt.shardy.partition.halo_plan import Reads, plan_halo
from sdyopt.shardy.partition.local_builder import dense_integers, ranked, scalar_type, shape_of
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards
from sdyopt.shardy.partition.scans import exchange_totals, scan_of
from sdyopt.shardy.partition.sharded_body import (
    HaloContext,
    ShardedBody,
    Values,
    attributes_of,
    begin_body,
    exchanges_halos,
)
from sdyopt.shardy.partition.windows import (
    check_windows_stay,
    extend_all,
    local_result_type,
    window_attributes,
    window_crosses,
    windows_of,
)

# Comparisons that are false if one element is NaN.
_ORDERED = ("EQ", "GE", "GT", "LE", "LT")


@lowering(ReduceWindowOp, SelectAndScatterOp)
def lower_window(op: ReduceWindowOp | SelectAndScatterOp, local: LocalContext) -> Lowered:
    """Checks that no window crosses a border between shards."""
    check_windows_stay(op, windows_of(op, local))
    return None


@crosses_shards(ReduceWindowOp, has_windows=True)
def reduce_window(op: ReduceWindowOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions whose windows cross a border between shards."""
    for slid in windows_of(op, types):
        outputs = types.axes_per_dim(op.results[0])
        if window_crosses(slid, types) or slid.axes != outputs[slid.dim]:
            for number in range(len(op.inputs)):
                yield Dim(number, slid.dim)
                yield Dim(2 * len(op.inputs) + number, slid.dim)


@crosses_shards(SelectAndScatterOp)
def select_and_scatter(op: SelectAndScatterOp, types: LocalTypes) -> Iterable[Dim]:
    """The dimensions by the rule: those with windows of more than one element."""
    return by_rule(op, types)


# --- reduce_window --------------------------------------------------------------------------------


@exchanges_halos(ReduceWindowOp)
def exchange_reduce_window(op: ReduceWindowOp, context: HaloContext) -> Values:
    """Elements outside of the whole tensor are the initial value. Cumulative operations exchange totals."""
    padding = padding_pairs(op.signature, op.padding)
    windows = checked_window(
        op.signature,
        op.window_dimensions,
        op.window_strides,
        padding,
        op.base_dilations,
        op.window_dilations,
    )
    types = context.types
    axes = list(types.axes_per_dim(op.inputs[0]))
    if any(list(types.axes_per_dim(value)) != axes for value in (*op.inputs, *op.results)):
        return None
    if (scan := scan_of(op, windows, axes)) is not None:
        return None if context.as_partitioner else exchange_totals(scan, context)
    reads = read_dimensions(op.inputs[0], op.results[0], windows, context)
    body = None if reads is None else begin_body(op, context)
    if reads is None or body is None:
        return None
    inits = [body.shard_of(init) for init in op.init_values]
    inputs = []
    for input, init, inside in zip(op.inputs, op.init_values, inits, strict=True):
        shard = body.shard_of(input, init)
        inputs.append(extend_all(body, shard, reads, padding_of(init, inside)))
    sides = inputs[0][1]
    pairs, dilations = window_attributes([(window.low, window.high) for window in windows], windows, sides)
    attributes = {**attributes_of(op), "padding": pairs, "base_dilations": dilations}
    region = Region()
    body.rewriter.copy_region(op.body, region)
    result_types = [local_result_type(body, result, context.types) for result in op.results]
    operands = [*[value for value, _ in inputs], *inits]
    return body.finish(body.create(ReduceWindowOp, operands, result_types, attributes, [region]).results)


class _Windows(NamedTuple):
    """The windows that each device computes along one dimension.

    They read `operand`, with `high` elements of padding after it, and scatter `source`.
    """

    window: WindowDimension
    shard_size: int
    high: int
    operand: ReadDimension
    source: ReadDimension


@exchanges_halos(SelectAndScatterOp)
def exchange_select_and_scatter(op: SelectAndScatterOp, context: HaloContext) -> Values:
    """Every device whose shard a window reaches computes the window, and keeps the part in its shard.

    Elements before the first one are NaN, which an ordered comparison never selects. No such filler exists
    for elements after the last one, so the operation itself must pad there: the last shards compute earlier
    windows too, up to the last one, and keep nothing of them. The scatter must be a sum: then windows before
    the first one, whose source is zero, have no effect.
    """
    windows = _windows(op, context.types) if _is_padded_by_nan(op) else None
    body = None if windows is None else begin_body(op, context)
    if windows is None or body is None:
        return None
    operand, source = body.shard_of(op.operand), body.shard_of(op.source)
    init = body.shard_of(op.init_value)
    zero = Padding(body.zero(scalar_type(operand)), is_zero=True)
    for window in windows:
        operand = exchange(body, operand, window.operand, zero)
        source = exchange(body, source, window.source, zero)
        operand = _fill(body, operand, window)
    pairs = list(padding_pairs(op.signature, op.padding)) or [(0, 0)] * ranked(operand).rank
    for window in windows:
        pairs[window.operand.dim] = (0, window.high)
    numbers = [number for pair in pairs for number in pair]
    padding = dense_integers(tensor((len(pairs), 2), I64), numbers)
    regions = [Region(), Region()]
    for region, copy in zip(op.regions, regions, strict=True):
        body.rewriter.copy_region(region, copy)
    attributes = {**attributes_of(op), "padding": padding}
    result: Value = body.create(
        SelectAndScatterOp, [operand, source, init], [operand.type], attributes, regions
    ).result
    for window in windows:
        result = _own_part(body, result, window, init)
    return body.finish([result])


def _is_padded_by_nan(op: SelectAndScatterOp) -> bool:
    """Whether NaN is never selected before other elements, and sums are scattered."""
    element = ranked(op.operand).element
    block = op.select.blocks[0]
    returned = block.last
    compare = None if returned is None else returned.operand_at(0).defining_op
    if not isinstance(compare, CompareOp) or compare.operands != list(block.arguments):
        return False
    if not isinstance(element, FloatType) or element.format.specials is not Specials.IEEE:
        return False
    return compare.comparison_direction.value in _ORDERED and binary_body(op.scatter, 0) is AddOp


def _windows(op: SelectAndScatterOp, types: LocalTypes) -> list[_Windows] | None:
    """The windows along each sharded dimension; None if tensors are sharded differently."""
    padding = padding_pairs(op.signature, op.padding)
    windows = checked_window(op.signature, op.window_dimensions or (), op.window_strides, padding)
    slid = []
    result_axes, source_axes = types.axes_per_dim(op.out), types.axes_per_dim(op.source)
    for dim, axes in enumerate(types.axes_per_dim(op.operand)):
        if axes != result_axes[dim] or source_axes[dim] not in (axes, ()):
            return None
        if not axes:
            continue
        size, count = shape_of(op.operand)[dim], shape_of(op.source)[dim]
        if not size or not count:
            return None
        if windows[dim].low and any(window.size > 1 for window in windows[:dim]):
            return None  # NaN would come after other elements of a window, and be selected
        along = _along(dim, windows[dim], (size, count), op, types)
        if along is None:
            return None
        slid.append(along)
    return slid


def _along(
    dim: int, window: WindowDimension, sizes: tuple[int, int], op: SelectAndScatterOp, types: LocalTypes
) -> _Windows | None:
    size, count = sizes
    axes = types.axes_per_dim(op.operand)[dim]
    shards = types.shard_count(axes, op.operand)
    shard_size = -(-size // shards)
    reaching = _reaching_windows(window, shard_size, shards)
    # The last `num_padded` windows reach up to `high` positions beyond the last element.
    high = max(0, (count - 1) * window.stride - window.low + window.size - size)
    num_padded = -(-high // window.stride)
    most = max(end - first for first, end in reaching) + num_padded
    if most <= 0:
        return None
    firsts, sources = [], []
    positions: list[tuple[int, int] | None] = []
    for first, end in reaching:
        is_last = end > count - num_padded
        firsts.append(count - most if num_padded and is_last else first)
        start, stop = max(first, 0), min(end, count)
        span_end = (stop - 1) * window.stride - window.low + window.size
        positions.append((start * window.stride - window.low, min(span_end, size)) if start < stop else None)
        # The source of windows outside of the tensor must be zero, so it is read.
        stop = stop if num_padded else end
        sources.append((first, stop) if first < stop else None)
    starts = [first * window.stride - window.low for first in firsts]
    operand = Reads(size, starts, (most - 1) * window.stride + window.size - high, positions)
    source = Reads(count, firsts, most, sources, is_replicated=not types.axes_per_dim(op.source)[dim])
    plans = plan_halo(operand), plan_halo(source)
    if plans[0] is None or plans[1] is None:
        return None
    return _Windows(
        window,
        shard_size,
        high,
        ReadDimension(dim, axes, operand, plans[0]),
        ReadDimension(dim, axes, source, plans[1]),
    )


def _reaching_windows(window: WindowDimension, shard_size: int, shards: int) -> list[tuple[int, int]]:
    """The windows that reach into each shard, from the first to the one after the last."""
    starts = [shard * shard_size + window.low for shard in range(shards)]
    return [
        (-(-(start - window.size + 1) // window.stride), (start + shard_size - 1) // window.stride + 1)
        for start in starts
    ]


def _fill(body: ShardedBody, value: Value, windows: _Windows) -> Value:
    """Fills what is before the first element with NaN."""
    if not windows.window.low:
        return value
    read, element = windows.operand, ranked(value).element
    assert isinstance(element, FloatType)
    index = element_index(body, value, read.dim, body.per_shard(read.plan.first_elements, read.axes))
    mask = body.compare(index, body.integers(ranked(index), [0]), "LT")
    mask = body.broadcast(mask, tensor(shape_of(value), I1), [read.dim])
    bits = nan_bits(element.format).to_bytes(element_size(element), "little")
    return body.select(mask, body.splat(ranked(value), bits), value)


def _own_part(body: ShardedBody, value: Value, windows: _Windows, init: Value) -> Value:
    """The elements of this device's shard. What no window reaches is the initial value."""
    positions = windows.operand.reads.positions
    starts = [shard * windows.shard_size - position for shard, position in enumerate(positions)]
    return crop(body, value, windows.operand, starts, windows.shard_size, Padding(init, is_zero=False))
