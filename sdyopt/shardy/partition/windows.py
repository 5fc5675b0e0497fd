"""Sliding windows along sharded dimensions: whether every window lies in one shard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension, checked_window, padding_pairs
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_types import Axes
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


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
        [kernel[dim] for dim in dims.kernel_spatial],
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
            dims.input_spatial, dims.kernel_spatial, windows, reversal, strict=True
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
