"""convolution of padded tensors: neither padded elements nor additional windows must change the result."""

from __future__ import annotations

from sdyopt.base.dataclasses import replace
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension, checked_window, padding_pairs
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.types import I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import dense_integers, shape_of
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape


@pads(ConvolutionOp)
def pad_convolution(op: ConvolutionOp, padder: Padder) -> Padded:
    """Fills the padding of input features and spatial dimensions with zeros in both operands.

    The padded image has more windows. Their results are cut, or the padding of the image is reduced if
    the result is sharded; where it has fewer windows than its result, its padding is increased.
    """
    dims = op.dimension_numbers
    lhs_dims = [dims.input_feature, *dims.input_spatial]
    rhs_dims = [dims.kernel_input_feature, *dims.kernel_spatial]
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
    reversal = op.window_reversal or [False] * len(dims.output_spatial)
    for number, window in enumerate(_windows(op, shape_of(rhs))):
        result_dim = dims.output_spatial[number]
        size, needed = shape_of(lhs)[dims.input_spatial[number]], type.shape[result_dim]
        if reversal[number]:
            # The zeros at the end of the kernel come first.
            added = window.size - kernel[dims.kernel_spatial[number]]
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
        [kernel_shape[dim] for dim in op.dimension_numbers.kernel_spatial],
        op.window_strides,
        padding_pairs(signature, op.padding),
        op.lhs_dilation,
        op.rhs_dilation,
    )
