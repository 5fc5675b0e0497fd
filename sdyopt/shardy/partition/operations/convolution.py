"""`convolution`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdyopt.base.dataclasses import replace
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.elementwise import SubtractOp
from sdyopt.mlir.dialects.stablehlo.reducer import WindowDimension, checked_window, padding_pairs
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.types import I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import Padding, ReadDimension, plan_halo
from sdyopt.shardy.partition.local_builder import dense_integers, scalar_type, shape_of
from sdyopt.shardy.partition.local_context import (
    Axes,
    LocalContext,
    LocalTypes,
    Lowered,
    lowering,
    offset_type,
)
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape
from sdyopt.shardy.partition.partial_results import check_is_combined
from sdyopt.shardy.partition.replication import Dim, crosses_shards
from sdyopt.shardy.partition.sharded_body import (
    HaloContext,
    Values,
    attributes_of,
    begin_body,
    exchanges_halos,
)
from sdyopt.shardy.partition.windows import (
    SlidDimension,
    check_windows_stay,
    extend_all,
    is_reduced,
    local_result_type,
    window_attributes,
    window_crosses,
    window_reads,
    windows_of_convolution,
)
from sdyopt.shardy.sharding.axis_lists import sharded_size


@lowering(ConvolutionOp)
def lower_convolution(op: ConvolutionOp, local: LocalContext) -> Lowered:
    """Convolves the shards; group counts are divided by the number of shards along the groups."""
    values = (op.lhs, op.rhs, op.out)
    if not any(any(local.axes_per_dim(value)) for value in values):
        return None
    dims, mesh = op.dimension_numbers, local.common_mesh(op)
    lhs_axes, rhs_axes = local.axes_per_dim(op.lhs), local.axes_per_dim(op.rhs)
    reduced = [
        axis
        for dim in (dims.kernel_input_feature_dimension, *dims.kernel_spatial_dimensions)
        for axis in rhs_axes[dim]
    ]
    if reduced:
        check_is_combined(
            op,
            reduced,
            mesh,
            local,
            "Expected sharded contracting convolution to have one user and the user is an sdy.all_reduce.",
            "The axes of the sdy.all_reduce should match the sharded "
            "reduction dimensions of the convolution.",
        )
    windows = windows_of_convolution(op, local)
    check_windows_stay(op, [window for window in windows if window.axes or not window.window_axes])
    attributes = dict(op.signature.attributes)
    for name, axes in (
        ("feature_group_count", rhs_axes[dims.kernel_output_feature_dimension]),
        ("batch_group_count", lhs_axes[dims.input_batch_dimension]),
    ):
        count = _local_group_count(op, op.attribute(name).value, axes, mesh)  # type: ignore[union-attr]
        attributes[name] = integer(count, I64)
    type = local.local_tensor(op.out, op)
    lhs: Value = op.lhs
    if any(window.window_axes and not window.axes for window in windows):
        lhs = _slice_for_kernel(op, windows, attributes, mesh, local)
    return [local.builder(op).create(ConvolutionOp, [lhs, op.rhs], [type], attributes).result]


def _slice_for_kernel(
    op: ConvolutionOp,
    windows: Sequence[SlidDimension],
    attributes: dict[str, Attribute],
    mesh: Mesh,
    local: LocalContext,
) -> Value:
    """Slices the left operand to the elements by which this device multiplies its kernel elements.

    The kernel is sharded along spatial dimensions, and the left operand is not. The padding and base dilation
    of all spatial dimensions become an explicit pad, and are removed from `attributes`.
    """
    builder, rank = local.builder(op), len(shape_of(op.lhs))
    low, high, interior = [0] * rank, [0] * rank, [0] * rank
    for slid in windows:
        low[slid.dim], high[slid.dim] = slid.window.low, slid.window.high
        interior[slid.dim] = slid.window.base_dilation - 1
    zero = builder.zero(tensor((), ranked(op.lhs).element))
    padded = builder.pad(op.lhs, zero, low, high, interior)
    sizes = list(shape_of(padded))
    element = offset_type(shape_of(op.lhs))
    starts = [builder.index(0, element)] * rank
    for slid in windows:
        if not slid.window_axes:
            continue
        shards = sharded_size(slid.window_axes, mesh)
        extent = slid.window.size // shards * slid.window.window_dilation
        # No window fits into an operand that is too small: the result has no elements.
        sizes[slid.dim] = max(sizes[slid.dim] - extent * (shards - 1), 0)
        offset = local.offset(builder, slid.window_axes, mesh, extent, element)
        if slid.is_reversed:
            offset = builder.binary(SubtractOp, builder.index(extent * (shards - 1), element), offset)
        starts[slid.dim] = offset
    for name in ("padding", "lhs_dilation"):
        attributes.pop(name, None)
    return builder.dynamic_slice(padded, starts, sizes)


def _local_group_count(op: ConvolutionOp, count: int, axes: Axes, mesh: Mesh) -> int:
    if count == 1 or not axes:
        return count
    shards = min(count, sharded_size(axes, mesh))
    if count % shards:
        raise op.op_error("global group count is not divisible by total axes size")
    return count // shards


@crosses_shards(ConvolutionOp, has_windows=True)
def convolution(op: ConvolutionOp, types: LocalTypes) -> Iterable[Dim]:
    """Spatial dimensions whose windows cross a border between shards, and kernel dimensions without sums.

    The kernel may be sharded along a spatial dimension with a reduction factor: devices then have partial
    sums.
    """
    dims, output_axes = op.dimension_numbers, types.axes_per_dim(op.out)
    crossed = []
    windows = windows_of_convolution(op, types)
    for slid, kernel_dim, output_dim in zip(
        windows, dims.kernel_spatial_dimensions, dims.output_spatial_dimensions, strict=True
    ):
        is_partial_sum = bool(slid.window_axes)
        if window_crosses(slid, types) or (slid.axes != output_axes[output_dim] and not is_partial_sum):
            crossed += [Dim(0, slid.dim), Dim(2, output_dim)]
        elif is_partial_sum:
            crossed.append(Dim(2, output_dim))
        if not is_reduced(op, kernel_dim):
            crossed.append(Dim(1, kernel_dim))
    if op.batch_group_count > 1 and output_axes[dims.output_batch_dimension]:
        # A shard of the batch of the result has a part of each group.
        crossed += [Dim(0, dims.input_batch_dimension), Dim(1, dims.kernel_output_feature_dimension)]
        crossed += [Dim(2, dims.output_batch_dimension), Dim(2, dims.output_feature_dimension)]
    if cuts_groups(op, types):
        crossed += _group_dims(op)
    if replicates_sums_of_groups(op, types):
        crossed.append(Dim(1, dims.kernel_input_feature_dimension))
    kernel_feature, feature = dims.kernel_output_feature_dimension, dims.output_feature_dimension
    if types.axes_per_dim(op.rhs)[kernel_feature] != output_axes[feature]:
        # A kernel with one output feature: its factor is not the one of the result.
        crossed += [Dim(1, kernel_feature), Dim(2, feature)]
    return crossed


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
    features = shape_of(op.rhs)[op.dimension_numbers.kernel_input_feature_dimension]
    return op.feature_group_count > 1 and (features == 1 or cuts_groups(op, types))


def _group_dims(op: ConvolutionOp) -> Iterator[Dim]:
    """The dimensions that consist of groups."""
    dims = op.dimension_numbers
    yield Dim(0, dims.input_feature_dimension if op.feature_group_count > 1 else dims.input_batch_dimension)
    yield Dim(1, dims.kernel_output_feature_dimension)
    yield Dim(2, dims.output_feature_dimension)


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
    extended, sides = extend_all(body, lhs, reads, zero)
    windows = windows_of_convolution(op, context.types)
    window_sides = {number: sides[slid.dim] for number, slid in enumerate(windows) if slid.dim in sides}
    padding, dilations = window_attributes(
        [(slid.window.low, slid.window.high) for slid in windows],
        [slid.window for slid in windows],
        window_sides,
    )
    attributes = {**attributes_of(op), **groups, "padding": padding, "lhs_dilation": dilations}
    type = local_result_type(body, op.out, context.types)
    return body.finish(body.create(ConvolutionOp, [extended, rhs], [type], attributes).results)


def _is_sharded_consistently(op: ConvolutionOp, types: LocalTypes) -> bool:
    """Whether batches and features are sharded alike, where they correspond."""
    dims = op.dimension_numbers
    lhs, rhs, out = (types.axes_per_dim(value) for value in (op.lhs, op.rhs, op.out))
    pairs = [(rhs[dims.kernel_output_feature_dimension], out[dims.output_feature_dimension])]
    if op.batch_group_count == 1:
        pairs.append((lhs[dims.input_batch_dimension], out[dims.output_batch_dimension]))
    else:
        # The shards of the batch are groups, of which each computes some output features.
        pairs += [
            (lhs[dims.input_batch_dimension], rhs[dims.kernel_output_feature_dimension]),
            (out[dims.output_batch_dimension], ()),
        ]
    if op.feature_group_count == 1:
        pairs.append((lhs[dims.input_feature_dimension], rhs[dims.kernel_input_feature_dimension]))
    else:
        pairs.append((lhs[dims.input_feature_dimension], rhs[dims.kernel_output_feature_dimension]))
        pairs.append((rhs[dims.kernel_input_feature_dimension], ()))
    return all(axes == others for axes, others in pairs)


def _local_groups(op: ConvolutionOp, types: LocalTypes, mesh: Mesh) -> dict[str, Attribute] | None:
    """The attributes with the numbers of groups of a shard, if there are several.

    None if shards cut groups.
    """
    dims, axes = op.dimension_numbers, types.axes_per_dim(op.lhs)
    local: dict[str, Attribute] = {}
    for name, count, dim in (
        ("feature_group_count", op.feature_group_count, dims.input_feature_dimension),
        ("batch_group_count", op.batch_group_count, dims.input_batch_dimension),
    ):
        shards = sharded_size(axes[dim], mesh)
        if count == 1:
            continue
        if count % shards:
            return None
        local[name] = integer(count // shards, I64)
    return local


def _convolution_reads(op: ConvolutionOp, context: HaloContext) -> list[ReadDimension] | None:
    """The reads of each device along the spatial dimensions of the left operand."""
    types, dims, reads = context.types, op.dimension_numbers, []
    output_axes = types.axes_per_dim(op.out)
    for slid, output_dim in zip(
        windows_of_convolution(op, types), dims.output_spatial_dimensions, strict=True
    ):
        size = shape_of(op.out)[output_dim]
        if not slid.axes and not slid.window_axes and not output_axes[output_dim]:
            continue
        read = window_reads(slid, size, output_axes[output_dim], types, op)
        plan = None if read is None else plan_halo(read)
        if read is None or plan is None:
            return None
        reads.append(ReadDimension(slid.dim, slid.axes or slid.window_axes, read, plan))
    return reads


@pads(ConvolutionOp)
def pad_convolution(op: ConvolutionOp, padder: Padder) -> Padded:
    """Fills the padding of input features and spatial dimensions with zeros in both operands.

    The padded image has more windows. Their results are cut, or the padding of the image is reduced if
    the result is sharded; where it has fewer windows than its result, its padding is increased.
    """
    dims = op.dimension_numbers
    lhs_dims = [dims.input_feature_dimension, *dims.input_spatial_dimensions]
    rhs_dims = [dims.kernel_input_feature_dimension, *dims.kernel_spatial_dimensions]
    lhs = padder.mask_with_zero(op, op.lhs, unpadded_shape(op, 0), lhs_dims)
    rhs = padder.mask_with_zero(op, op.rhs, unpadded_shape(op, 1), rhs_dims)
    type = padder.padded_type(op.out)
    assert isinstance(type, RankedTensor)
    windows, shape = _fitted_windows(op, lhs, rhs, type, padder)
    attributes: dict[str, Attribute] = {}
    if windows != _windows(op, shape_of(rhs)):
        pairs = [size for window in windows for size in (window.low, window.high)]
        attributes["padding"] = dense_integers(tensor((len(windows), 2), I64), pairs)
    if shape == type.shape and not attributes:
        if [lhs, rhs] != op.operands:
            padder.rewriter.set_operands(op, [lhs, rhs])
        return None
    result = padder.recreate(op, [lhs, rhs], [tensor(shape, type.element)], attributes).result
    return [padder.cut(op, result, type.shape, padder.types.sharding(op.out))]


def _fitted_windows(
    op: ConvolutionOp, lhs: Value, rhs: Value, type: RankedTensor, padder: Padder
) -> tuple[list[WindowDimension], tuple[int, ...]]:
    """The windows over the padded image, and the shape of their results, which may be larger than needed."""
    dims, sharding = op.dimension_numbers, padder.types.sharding(op.out)
    windows, shape = [], list(type.shape)
    kernel = unpadded_shape(op, 1)
    reversal = op.window_reversal or [False] * len(dims.output_spatial_dimensions)
    for number, window in enumerate(_windows(op, shape_of(rhs))):
        result_dim = dims.output_spatial_dimensions[number]
        size, needed = shape_of(lhs)[dims.input_spatial_dimensions[number]], type.shape[result_dim]
        if reversal[number]:
            # The zeros at the end of the kernel come first.
            added = window.size - kernel[dims.kernel_spatial_dimensions[number]]
            window = replace(window, low=window.low + added * window.window_dilation)
        is_sharded = sharding is not None and bool(sharding.dims[result_dim].axes)
        if window.positions(size) < needed or (window.positions(size) > needed and is_sharded):
            window = _with_positions(window, size, needed)
        shape[result_dim] = window.positions(size)
        windows.append(window)
    return windows, tuple(shape)


def _with_positions(window: WindowDimension, size: int, count: int) -> WindowDimension:
    """The window with as much padding after the image as gives it `count` positions."""
    extent = (window.size - 1) * window.window_dilation + 1
    dilated = (size - 1) * window.base_dilation + 1 if size else 0
    return replace(window, high=(count - 1) * window.stride + extent - dilated - window.low)


def _windows(op: ConvolutionOp, kernel_shape: tuple[int, ...]) -> list[WindowDimension]:
    signature = op.signature
    return checked_window(
        signature,
        [kernel_shape[dim] for dim in op.dimension_numbers.kernel_spatial_dimensions],
        op.window_strides,
        padding_pairs(signature, op.padding),
        op.lhs_dilation,
        op.rhs_dilation,
    )
