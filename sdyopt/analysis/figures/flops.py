"""FLOPs of products, from the shapes of operands and result, local or global.

Where operands and result have different local sizes of one dimension, because only some of them are sharded
there, the smallest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from sdyopt.mlir.dialects.chlo.ragged_dot import RaggedDotOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC

Shape = Sequence[int]
# (operation, shapes of lhs, rhs and result) -> FLOPs
FlopsOf = Callable[[Any, Shape, Shape, Shape], int]


def _dot_general(op: DotGeneralOp, lhs: Shape, rhs: Shape, out: Shape) -> int:
    """2 · b · m · n · k."""
    dims = op.dot_dimension_numbers
    free_lhs = [d for d in range(len(lhs)) if d not in (*dims.lhs_batching, *dims.lhs_contracting)]
    free_rhs = [d for d in range(len(rhs)) if d not in (*dims.rhs_batching, *dims.rhs_contracting)]
    sizes = [
        min(lhs[left], rhs[right], out[position])
        for position, (left, right) in enumerate(zip(dims.lhs_batching, dims.rhs_batching, strict=True))
    ]
    position = len(sizes)
    for left in free_lhs:
        sizes.append(min(lhs[left], out[position]))
        position += 1
    for right in free_rhs:
        sizes.append(min(rhs[right], out[position]))
        position += 1
    sizes += [
        min(lhs[left], rhs[right])
        for left, right in zip(dims.lhs_contracting, dims.rhs_contracting, strict=True)
    ]
    return 2 * prod(sizes)


def _dot(op: DotOp, lhs: Shape, rhs: Shape, out: Shape) -> int:
    """Contracts the last dimension of the left operand with the first of the right one."""
    free = [*zip(lhs[:-1], out, strict=False), *zip(rhs[1:], out[len(lhs) - 1 :], strict=False)]
    return 2 * prod([min(pair) for pair in free]) * min(lhs[-1], rhs[0])


def _convolution(op: ConvolutionOp, lhs: Shape, rhs: Shape, out: Shape) -> int:
    """2 · result elements · window elements · input features per group."""
    dims = op.dimension_numbers
    batch = out[dims.output_batch]
    if op.batch_group_count == 1:
        batch = min(lhs[dims.input_batch], batch)
    features = min(rhs[dims.kernel_output_feature], out[dims.output_feature])
    result = batch * features * prod([out[dim] for dim in dims.output_spatial])
    window = prod([rhs[dim] for dim in dims.kernel_spatial])
    inputs = rhs[dims.kernel_input_feature]
    if op.feature_group_count == 1:
        inputs = min(lhs[dims.input_feature], inputs)
    return 2 * result * window * inputs


def _ragged_dot(op: RaggedDotOp, lhs: Shape, rhs: Shape, out: Shape) -> int:
    """2 · m · n · k: each row of the ragged dimension, or each element that is summed, is in one group."""
    dims = op.ragged_dot_dimension_numbers
    # A ragged contracting dimension is divided among the groups, which are the first dimension of the result.
    groups = 1 if set(dims.lhs_ragged) <= set(dims.lhs_contracting) else 0
    contracted = [
        min(lhs[left], rhs[right])
        for left, right in zip(dims.lhs_contracting, dims.rhs_contracting, strict=True)
    ]
    return 2 * prod(out[groups:]) * prod(contracted)


FLOPS: dict[type[Op], FlopsOf] = {
    RaggedDotOp: _ragged_dot,
    ConvolutionOp: _convolution,
    DotGeneralOp: _dot_general,
    DotOp: _dot,
}


def flops_of(op: Op, lhs: Shape, rhs: Shape, out: Shape) -> int | None:
    """FLOPs of one run with operands and result of these shapes; None if a size is dynamic."""
    if any(DYNAMIC in shape for shape in (lhs, rhs, out)):
        return None
    return FLOPS[type(op)](op, lhs, rhs, out)


def sizes_of(op: Op, lhs: Shape, rhs: Shape, out: Shape) -> tuple[int, int, int, int] | None:
    """Batch, rows, columns and contracted size of a product; None if a size is dynamic.

    A convolution has the positions of its result as rows, and a window of input features as contracted size.
    """
    flops = flops_of(op, lhs, rhs, out)
    if flops is None:
        return None
    batch = 1
    if isinstance(op, DotGeneralOp):
        dims = op.dot_dimension_numbers
        batch = prod(out[: len(dims.lhs_batching)])
        rows = prod(out[len(dims.lhs_batching) : len(lhs) - len(dims.lhs_contracting)])
    elif isinstance(op, ConvolutionOp):
        rows = prod(out) // max(1, out[op.dimension_numbers.output_feature])
        batch = op.feature_group_count
    else:
        rows = prod(out[:-1])
    columns = prod(out) // max(1, batch * rows)
    return batch, rows, columns, flops // max(1, 2 * batch * rows * columns)
