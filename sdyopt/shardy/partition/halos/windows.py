"""convolution and reduce_window: windows that reach into other shards."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension, checked_window, padding_pairs
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import dense_array, integer
from sdyopt.mlir.ir.types import I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import Extended, Padding, ReadDimension, extend, padding_of
from sdyopt.shardy.partition.halo_plan import Reads, plan_halo, reads_of_windows
from sdyopt.shardy.partition.halo_registry import Values, attributes_of, begin_body, exchanges_halos
from sdyopt.shardy.partition.halos.slicing import read_dimensions
from sdyopt.shardy.partition.local_builder import dense_integers, scalar_type, shape_of
from sdyopt.shardy.partition.local_types import Axes, LocalTypes
from sdyopt.shardy.partition.scans import exchange_totals, scan_of
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody
from sdyopt.shardy.partition.windows import SlidDimension, is_reduced, windows_of_convolution
from sdyopt.shardy.sharding.axis_lists import sharded_size

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
        return exchange_totals(scan, context)
    reads = read_dimensions(op.inputs[0], op.results[0], windows, context)
    body = None if reads is None else begin_body(op, context)
    if reads is None or body is None:
        return None
    inits = [body.shard_of(init) for init in op.init_values]
    inputs = []
    for input, init, inside in zip(op.inputs, op.init_values, inits, strict=True):
        shard = body.shard_of(input, init)
        inputs.append(_extend_all(body, shard, reads, padding_of(init, inside)))
    sides = inputs[0][1]
    pairs, dilations = _window_attributes([(each.low, each.high) for each in windows], windows, sides)
    attributes = {**attributes_of(op), "padding": pairs, "base_dilations": dilations}
    region = Region()
    body.rewriter.copy_region(op.body, region)
    result_types = [_local_type(body, result, context.types) for result in op.results]
    operands = [*[value for value, _ in inputs], *inits]
    return body.finish(body.create(ReduceWindowOp, operands, result_types, attributes, [region]).results)


# Extended shards, with what remains to be padded, by the dimension of the tensor or of the window.
_Sides = dict[int, Extended]


def _extend_all(
    body: ShardedBody, value: Value, reads: Sequence[ReadDimension], padding: Padding
) -> tuple[Value, _Sides]:
    """A shard with halos along all sharded dimensions, and by dimension what remains to be padded."""
    sides: _Sides = {}
    for read in reads:
        sides[read.dim] = extend(body, value, read, padding)
        value = sides[read.dim].value
    return value, sides


def _window_attributes(
    padding: Sequence[tuple[int, int]], windows: Sequence[WindowDimension], sides: _Sides
) -> tuple[Attribute, Attribute]:
    """The attributes of padding and base dilations. `sides`, by the dimension of the window, replace some."""
    pairs, dilations = list(padding), [window.base_dilation for window in windows]
    for dim, side in sides.items():
        pairs[dim], dilations[dim] = (side.low, side.high), side.dilation
    lows_and_highs = [amount for pair in pairs for amount in pair]
    return dense_integers(tensor((len(pairs), 2), I64), lows_and_highs), dense_array(I64, dilations)


def _local_type(body: ShardedBody, result: Value, types: LocalTypes) -> RankedTensor:
    sharding = body.sharding(result)
    local = types.local_type(types.padded_type(result.type, sharding), sharding, body.before)
    assert isinstance(local, RankedTensor)
    return local


# --- convolution ----------------------------------------------------------------------------------


@exchanges_halos(ConvolutionOp, has_sums=True)
def exchange_convolution(op: ConvolutionOp, context: HaloContext) -> Values:
    """Elements outside of the whole tensor are zero.

    If the kernel is sharded along a spatial dimension, each device has a part of the kernel, and reads what
    is multiplied with it. The results are partial sums.
    """
    if not _is_sharded_consistently(op, context.types):
        return None
    reads = _convolution_reads(op, context)
    body = None if reads is None else begin_body(op, context)
    if reads is None or body is None:
        return None
    groups = _local_groups(op, context.types, body.mesh)
    if groups is None:
        return None
    lhs, rhs = body.shard_of(op.lhs), body.shard_of(op.rhs)
    zero = Padding(body.zero(scalar_type(lhs)), is_zero=True)
    extended, sides = _extend_all(body, lhs, reads, zero)
    windows = windows_of_convolution(op, context.types)
    window_sides = {number: sides[slid.dim] for number, slid in enumerate(windows) if slid.dim in sides}
    padding, dilations = _window_attributes(
        [(slid.window.low, slid.window.high) for slid in windows],
        [slid.window for slid in windows],
        window_sides,
    )
    attributes = {**attributes_of(op), **groups, "padding": padding, "lhs_dilation": dilations}
    type = _local_type(body, op.out, context.types)
    return body.finish(body.create(ConvolutionOp, [extended, rhs], [type], attributes).results)


def _is_sharded_consistently(op: ConvolutionOp, types: LocalTypes) -> bool:
    """Whether batches and features are sharded alike, where they correspond."""
    dims = op.dimension_numbers
    lhs, rhs, out = (types.axes_per_dim(value) for value in (op.lhs, op.rhs, op.out))
    pairs = [(rhs[dims.kernel_output_feature], out[dims.output_feature])]
    if op.batch_group_count == 1:
        pairs.append((lhs[dims.input_batch], out[dims.output_batch]))
    else:
        # The shards of the batch are groups, of which each computes some output features.
        pairs += [(lhs[dims.input_batch], rhs[dims.kernel_output_feature]), (out[dims.output_batch], ())]
    if op.feature_group_count == 1:
        pairs.append((lhs[dims.input_feature], rhs[dims.kernel_input_feature]))
    else:
        pairs.append((lhs[dims.input_feature], rhs[dims.kernel_output_feature]))
        pairs.append((rhs[dims.kernel_input_feature], ()))
    return all(axes == others for axes, others in pairs)


def _local_groups(op: ConvolutionOp, types: LocalTypes, mesh: Mesh) -> dict[str, Attribute] | None:
    """The attributes with the numbers of groups of a shard, if there are several.

    None if shards cut groups.
    """
    dims, axes = op.dimension_numbers, types.axes_per_dim(op.lhs)
    local: dict[str, Attribute] = {}
    for name, count, dim in (
        ("feature_group_count", op.feature_group_count, dims.input_feature),
        ("batch_group_count", op.batch_group_count, dims.input_batch),
    ):
        shards = sharded_size(axes[dim], mesh)
        if count == 1:
            continue
        if count % shards:
            return None
        local[name] = integer(count // shards, I64)
    return local


def _convolution_reads(op: ConvolutionOp, context: HaloContext) -> list[ReadDimension] | None:
    """What each device reads along the spatial dimensions of the left operand."""
    types, dims, reads = context.types, op.dimension_numbers, []
    output_axes = types.axes_per_dim(op.out)
    for slid, output_dim in zip(windows_of_convolution(op, types), dims.output_spatial, strict=True):
        size = shape_of(op.out)[output_dim]
        if not slid.axes and not slid.window_axes and not output_axes[output_dim]:
            continue
        read = _reads_of(slid, size, output_axes[output_dim], types, op)
        plan = None if read is None else plan_halo(read)
        if read is None or plan is None:
            return None
        reads.append(ReadDimension(slid.dim, slid.axes or slid.window_axes, read, plan))
    return reads


def _reads_of(
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
