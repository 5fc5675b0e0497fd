"""convolution of shards: sums are partial if input features or spatial kernel dimensions are sharded."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.elementwise import SubtractOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.types import I64, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import ranked, shape_of
from sdyopt.shardy.partition.local_context import LocalContext, offset_type
from sdyopt.shardy.partition.local_types import Axes
from sdyopt.shardy.partition.reduced_axes import check_is_combined
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.partition.windows import SlidDimension, check_windows_stay, windows_of_convolution
from sdyopt.shardy.sharding.axis_lists import sharded_size


@lowering(ConvolutionOp)
def lower_convolution(op: ConvolutionOp, local: LocalContext) -> Lowered:
    """Convolves the shards; group counts are divided by the number of shards along the groups."""
    values = (op.lhs, op.rhs, op.out)
    if not any(any(local.axes_per_dim(value)) for value in values):
        return None
    dims, mesh = op.dimension_numbers, local.common_mesh(op)
    lhs_axes, rhs_axes = local.axes_per_dim(op.lhs), local.axes_per_dim(op.rhs)
    reduced = [axis for dim in (dims.kernel_input_feature, *dims.kernel_spatial) for axis in rhs_axes[dim]]
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
        ("feature_group_count", rhs_axes[dims.kernel_output_feature]),
        ("batch_group_count", lhs_axes[dims.input_batch]),
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
        sizes[slid.dim] -= extent * (shards - 1)
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
