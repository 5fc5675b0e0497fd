"""Sliding windows along sharded dimensions: what each shard reads, and scans with totals of other shards.

A cumulative sum is a reduce_window whose windows reach from each element to the first one, or to the last
one. With 8 elements on 4 devices:

    device            0      1      2      3
    has              1 1    1 1    1 1    1 1
    sums of a shard  1 2    1 2    1 2    1 2
    total of others   0      2      4      6
    result           1 2    3 4    5 6    7 8

Only the totals are gathered: one element of each shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.reducer import WindowDimension, checked_window, padding_pairs
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import binary_body, is_identity
from sdyopt.shardy.partition.halo_exchange import (
    Extended,
    Padding,
    ReadDimension,
    Reads,
    all_gather,
    element_index,
    extend,
    reads_of_windows,
    take,
)
from sdyopt.shardy.partition.local_builder import dense_integers, shape_of
from sdyopt.shardy.partition.local_context import Axes, LocalTypes
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, Values, attributes_of, begin_body
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

# Extended shards, with what remains to be padded, by the dimension of the tensor or of the window.
_Sides = dict[int, Extended]


class Shardings(Protocol):
    """Has the axes that shard each dimension of a value."""

    def axes_per_dim(self, value: Value) -> Sequence[Axes]: ...


class SlidDimension(NamedTuple):
    """A dimension of an operand over which a window slides.

    In a convolution, the window is dimension `kernel_dim` of the kernel, which `window_axes` shard.
    """

    operand: Value
    dim: int
    axes: Axes
    window: WindowDimension
    global_size: int
    window_axes: Axes = ()
    kernel_dim: int = -1
    is_reversed: bool = False

    def is_local(self, shard_size: int) -> bool:
        """Whether each device can compute from its own shards alone.

        That is, no window crosses a border between shards, and all shards have equally many windows; or the
        only window is as large as the dimension, and sharded alike.
        """
        window = self.window
        is_plain = window.low == window.high == 0 and window.base_dilation == 1
        if not self.axes:
            return not self.window_axes
        if self.window_axes:
            # Each device has a part of the one window, and a partial sum.
            is_whole = window.size == self.global_size
            return is_plain and is_whole and not self.is_reversed and self.axes == self.window_axes
        extent = (window.size - 1) * window.window_dilation + 1
        return is_plain and extent <= window.stride and shard_size % window.stride == 0


def windows_of_convolution(op: ConvolutionOp, shardings: Shardings) -> Sequence[SlidDimension]:
    """The spatial dimensions of the left operand of a convolution."""
    dims, signature = op.dimension_numbers, op.signature
    kernel, lhs = signature[ConvolutionOp.rhs].shape, signature[ConvolutionOp.lhs].shape
    windows = checked_window(
        signature,
        [kernel[dim] for dim in dims.kernel_spatial_dimensions],
        op.window_strides,
        padding_pairs(signature, op.padding),
        op.lhs_dilation,
        op.rhs_dilation,
    )
    axes, kernel_axes = shardings.axes_per_dim(op.lhs), shardings.axes_per_dim(op.rhs)
    reversal = op.window_reversal or [False] * len(windows)
    return [
        SlidDimension(op.lhs, dim, axes[dim], window, lhs[dim], kernel_axes[kernel_dim], kernel_dim, reverse)
        for dim, kernel_dim, window, reverse in zip(
            dims.input_spatial_dimensions, dims.kernel_spatial_dimensions, windows, reversal, strict=True
        )
    ]


def is_reduced(op: ConvolutionOp, kernel_dim: int) -> bool:
    """Whether a convolution sums over a dimension of the kernel, by its sharding rule."""
    rule = sharding_rule_of(op)
    return rule is not None and any(
        factor in rule.reduction for factor in rule.operands[1].dims[kernel_dim].factors
    )


def windows_of(op: ReduceWindowOp | SelectAndScatterOp, shardings: Shardings) -> Sequence[SlidDimension]:
    """The dimensions of the operands of a reduce_window or select_and_scatter."""
    signature = op.signature
    operand = op.operand_at(0)
    windows = checked_window(
        signature,
        op.window_dimensions or (),
        op.window_strides,
        padding_pairs(signature, op.padding),
        *((op.base_dilations, op.window_dilations) if isinstance(op, ReduceWindowOp) else ()),
    )
    shape = signature.operand_types[0].shape  # type: ignore[attr-defined]  # verified to be a tensor
    axes = shardings.axes_per_dim(operand)
    return [SlidDimension(operand, dim, axes[dim], window, shape[dim]) for dim, window in enumerate(windows)]


def check_windows_stay(op: Op, windows: Sequence[SlidDimension]) -> None:
    """Raises DiagnosticError unless each device can compute from its own shards alone."""
    for slid in windows:
        if not slid.is_local(shape_of(slid.operand)[slid.dim]):
            raise op.error(
                f"In op {op.name} dimension {slid.dim} is sharded but is not a pass-through dimension."
            ).help("run -sdy-resolve-permutation-factors and -sdy-reshard-to-collectives before")


def extend_all(
    body: ShardedBody, value: Value, reads: Sequence[ReadDimension], padding: Padding
) -> tuple[Value, _Sides]:
    """A shard with halos along all sharded dimensions, and by dimension what remains to be padded."""
    sides: _Sides = {}
    for read in reads:
        sides[read.dim] = extend(body, value, read, padding)
        value = sides[read.dim].value
    return value, sides


def window_attributes(
    padding: Sequence[tuple[int, int]], windows: Sequence[WindowDimension], sides: _Sides
) -> tuple[Attribute, Attribute]:
    """The attributes of padding and base dilations. `sides`, by the dimension of the window, replace some."""
    pairs, dilations = list(padding), [window.base_dilation for window in windows]
    for dim, side in sides.items():
        pairs[dim], dilations[dim] = (side.low, side.high), side.dilation
    lows_and_highs = [amount for pair in pairs for amount in pair]
    return dense_integers(tensor((len(pairs), 2), I64), lows_and_highs), dense_array(I64, dilations)


def local_result_type(body: ShardedBody, result: Value, types: LocalTypes) -> RankedTensor:
    sharding = body.sharding(result)
    local = types.local_type(types.padded_type(result.type, sharding), sharding, body.before)
    assert isinstance(local, RankedTensor)
    return local


def window_reads(
    slid: SlidDimension, size: int, output_axes: Axes, types: LocalTypes, op: ConvolutionOp
) -> Reads | None:
    if not slid.window_axes:
        if slid.axes != output_axes or not size:
            return None
        shards = types.shard_count(slid.axes, slid.operand)
        return reads_of_windows(slid.global_size, size, shards, slid.window)
    is_partial_sum = is_reduced(op, slid.kernel_dim) and not output_axes
    if not is_partial_sum or (slid.axes and slid.axes != slid.window_axes):
        return None
    shards = types.shard_count(slid.window_axes, op.rhs)
    window = slid.window
    if window.size % shards:
        return None
    per_shard = window.size // shards
    step = per_shard * window.window_dilation
    length = (size - 1) * window.stride + (per_shard - 1) * window.window_dilation + 1
    low = window.low
    if slid.is_reversed:
        # The first device has the part of the kernel that the last elements of a window are multiplied with.
        low, step = low - step * (shards - 1), -step
    starts = [shard * step - low for shard in range(shards)]
    needed = [(start, start + length) for start in starts]
    return Reads(slid.global_size, starts, length, needed, window.base_dilation, not slid.axes)


def window_crosses(slid: SlidDimension, types: LocalTypes) -> bool:
    return bool(slid.axes) and not slid.is_local(types.shard_size(slid.global_size, slid.axes, slid.operand))


class Scan(NamedTuple):
    """A reduce_window that combines each element along `dim` with all before it or, if reversed, after it."""

    op: ReduceWindowOp
    dim: int
    is_reversed: bool
    # The operations that combine the elements of each input.
    combiners: Sequence[type[Op]]

    def body_of(self, body: ShardedBody) -> Region:
        region = Region()
        body.rewriter.copy_region(self.op.body, region)
        return region

    def scan_shards(
        self, body: ShardedBody, shards: Sequence[Value], inits: Sequence[Value]
    ) -> Sequence[Value]:
        shape = shape_of(shards[0])
        sizes, pairs = [1] * len(shape), [0] * (2 * len(shape))
        sizes[self.dim] = shape[self.dim]
        pairs[2 * self.dim + self.is_reversed] = shape[self.dim] - 1
        attributes = {
            **attributes_of(self.op),
            "window_dimensions": dense_array(I64, sizes),
            "padding": dense_integers(tensor((len(shape), 2), I64), pairs),
        }
        types = [shard.type for shard in shards]
        return body.create(ReduceWindowOp, [*shards, *inits], types, attributes, [self.body_of(body)]).results

    def totals_of_others(
        self, body: ShardedBody, sums: Sequence[Value], inits: Sequence[Value], axes: Axes
    ) -> Sequence[Value]:
        """The combined totals of all shards before, or after, the shard of this device."""
        dim, last = self.dim, 0 if self.is_reversed else shape_of(sums[0])[self.dim] - 1
        masked = []
        for value, init in zip(sums, inits, strict=True):
            totals = all_gather(body, take(body, value, dim, last, last + 1), dim, axes)
            index = element_index(body, totals, dim, 0)
            own = body.broadcast(body.shard_index(axes), ranked(index))
            others = body.compare(index, own, "GT" if self.is_reversed else "LT")
            mask = body.broadcast(others, tensor(shape_of(totals), I1), [dim])
            masked.append(body.select(mask, totals, body.broadcast(init, ranked(totals))))
        shape = [size for other, size in enumerate(shape_of(masked[0])) if other != dim]
        types = [tensor(tuple(shape), ranked(value).element) for value in masked]
        attributes = {"dimensions": dense_array(I64, [dim])}
        return body.create(ReduceOp, [*masked, *inits], types, attributes, [self.body_of(body)]).results


def scan_of(op: ReduceWindowOp, windows: Sequence[WindowDimension], axes: Sequence[Axes]) -> Scan | None:
    """The scan along a sharded dimension that an operation is; None if it is something else.

    The initial values must be identities, since the padding of the windows has them too.
    """
    dims = [dim for dim, window in enumerate(windows) if window != WindowDimension(1)]
    if len(dims) != 1 or not axes[dims[0]]:
        return None
    (dim,) = dims
    size = shape_of(op.inputs[0])[dim]
    forward, backward = WindowDimension(size, low=size - 1), WindowDimension(size, high=size - 1)
    combiners = [binary_body(op.body, number) for number in range(len(op.inputs))]
    known = [combiner for combiner in combiners if combiner is not None]
    has_identities = len(known) == len(combiners) and all(map(is_identity, known, op.init_values))
    if windows[dim] not in (forward, backward) or not has_identities:
        return None
    return Scan(op, dim, windows[dim] == backward, known)


def exchange_totals(scan: Scan, context: HaloContext) -> Values:
    """Scans the shards, and combines each with the totals of the shards before, or after, it."""
    op, dim = scan.op, scan.dim
    axes = context.types.axes_per_dim(op.inputs[0])[dim]
    if context.types.shard_size(shape_of(op.inputs[0])[dim], axes, op.inputs[0]) == 1:
        return None  # the totals are all elements
    body = begin_body(op, context)
    if body is None:
        return None
    inits = [body.shard_of(init) for init in op.init_values]
    shards = [body.shard_of(input, init) for input, init in zip(op.inputs, op.init_values, strict=True)]
    sums = scan.scan_shards(body, shards, inits)
    totals = scan.totals_of_others(body, sums, inits, axes)
    results = []
    for combiner, total, value in zip(scan.combiners, totals, sums, strict=True):
        kept = [other for other in range(ranked(value).rank) if other != dim]
        results.append(body.binary(combiner, body.broadcast(total, ranked(value), kept), value))
    return body.finish(results)
