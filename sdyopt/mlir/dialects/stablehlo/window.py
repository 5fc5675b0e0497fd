"""Sliding windows of convolution, reduce_window and select_and_scatter."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.stablehlo.attribute_constraints import integers_of
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import listing
from sdyopt.mlir.dialects.stablehlo.dimensions import Dimensions
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import DYNAMIC

Padding = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """One dimension of a window: size, stride, padding of the base and dilations of base and window."""

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1

    def positions(self, base: int) -> int:
        """The number of window positions along a dimension of size `base`; DYNAMIC if either size is."""
        if DYNAMIC in (base, self.size):
            return DYNAMIC
        padded = self.low + _dilated(base, self.base_dilation) + self.high
        window = _dilated(self.size, self.window_dilation)
        return 0 if padded == 0 or window > padded else (padded - window) // self.stride + 1


def padding_pairs(signature: OpSignature, padding: DenseElements | None) -> Padding:
    """The (low, high) pairs of a padding attribute. Raises a SignatureError if its shape is not N x 2."""
    if padding is None:
        return ()
    shape = padding.type.shape
    if len(shape) != 2 or shape[1] != 2:
        raise signature.error_without_op_note(
            f"expects the shape of padding-attribute to be {{N, 2}}, but got {{{listing(shape)}}}."
        )
    return pairs_of(padding)


def pairs_of(padding: DenseElements) -> Padding:
    """The elements of an N x 2 attribute as N pairs."""
    values = integers_of(padding)
    return list(zip(values[::2], values[1::2], strict=True))


def checked_window(
    signature: OpSignature,
    sizes: Dimensions,
    strides: Dimensions | None,
    padding: Padding,
    base_dilations: Dimensions | None = None,
    window_dilations: Dimensions | None = None,
    reversal: Sequence[bool] | None = None,
) -> list[WindowDimension]:
    """The window that the attributes describe; a missing or empty list means the defaults.

    Raises a SignatureError if a list has the wrong length, or a size, stride or dilation is not positive.
    """
    for values, name in (
        (strides, "window-strides"),
        (base_dilations, "base-dilation factors"),
        (window_dilations, "window-dilation factors"),
        (padding, "padding-entries"),
        (reversal, "window-reversal"),
    ):
        if values and len(values) != len(sizes):
            raise signature.error_without_op_note(
                f"expects {name} to have same dimension-size as size of window dimensions ({len(sizes)}), "
                f"but got: {len(values)}."
            )
    return [
        _checked_dimension(
            signature,
            index,
            WindowDimension(
                size,
                strides[index] if strides else 1,
                *(padding[index] if padding else (0, 0)),
                base_dilations[index] if base_dilations else 1,
                window_dilations[index] if window_dilations else 1,
            ),
        )
        for index, size in enumerate(sizes)
    ]


def window_result_shape(base: Dimensions, window: Sequence[WindowDimension]) -> list[int]:
    """The number of window positions along each dimension, from the sizes or bounds in `base`."""
    return [dimension.positions(size) for size, dimension in zip(base, window, strict=True)]


def _checked_dimension(signature: OpSignature, index: int, window: WindowDimension) -> WindowDimension:
    for value, what in (
        (1 if window.size == DYNAMIC else window.size, "value"),
        (window.stride, "stride"),
        (window.base_dilation, "base dilation factor"),
        (window.window_dilation, "window dilation factor"),
    ):
        if value <= 0:
            raise signature.error_without_op_note(
                f"expects window to have positive {what} for {index}-th window dimension, but got {value}."
            )
    return window


def _dilated(size: int, dilation: int) -> int:
    """The extent of `size` elements that are `dilation` apart."""
    return (size - 1) * dilation + 1 if size else 0
