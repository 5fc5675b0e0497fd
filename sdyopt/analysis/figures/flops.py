"""FLOPs of products and Fourier transforms, from their shapes, and bytes of elementwise operations.

Where operands and result have different local sizes of one dimension, because only some of them are sharded
there, the smallest counts.

Elementwise operations are counted each alone, and fused: a fused chain is the elementwise operations of a
block that use each other's results. It reads what comes from outside, and writes what is used outside;
broadcasts are part of it, and constants cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, log2, prod
from typing import Any, TypeVar

from sdyopt.analysis.figures.execution_counts import ExecutionCounts, constant_of
from sdyopt.analysis.figures.figures import Elementwise
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.mlir.dialects.chlo.operations import RaggedDotOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.reducer import padding_pairs
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.dialect import check_parameters
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

Shape = Sequence[int]
# (operation, shapes of lhs, rhs and result) -> FLOPs
FlopsOf = Callable[[Any, Shape, Shape, Shape], int]


def _dot_general(op: DotGeneralOp, lhs: Shape, rhs: Shape, out: Shape) -> int:
    """2 · b · m · n · k."""
    dims = op.dot_dimension_numbers
    shared_lhs = (*dims.lhs_batching_dimensions, *dims.lhs_contracting_dimensions)
    shared_rhs = (*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions)
    free_lhs = [d for d in range(len(lhs)) if d not in shared_lhs]
    free_rhs = [d for d in range(len(rhs)) if d not in shared_rhs]
    sizes = [
        min(lhs[left], rhs[right], out[position])
        for position, (left, right) in enumerate(
            zip(dims.lhs_batching_dimensions, dims.rhs_batching_dimensions, strict=True)
        )
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
        for left, right in zip(dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions, strict=True)
    ]
    return 2 * prod(sizes)


def _dot(op: DotOp, lhs: Shape, rhs: Shape, out: Shape) -> int:
    """Contracts the last dimension of the left operand with the first of the right one."""
    free = [*zip(lhs[:-1], out, strict=False), *zip(rhs[1:], out[len(lhs) - 1 :], strict=False)]
    return 2 * prod([min(pair) for pair in free]) * min(lhs[-1], rhs[0])


def _convolution(op: ConvolutionOp, lhs: Shape, rhs: Shape, out: Shape) -> int:
    """2 · result elements · window elements · input features per group, without those on padding."""
    dims = op.dimension_numbers
    batch = out[dims.output_batch_dimension]
    if op.batch_group_count == 1:
        batch = min(lhs[dims.input_batch_dimension], batch)
    features = min(rhs[dims.kernel_output_feature_dimension], out[dims.output_feature_dimension])
    result = batch * features * prod([out[dim] for dim in dims.output_spatial_dimensions])
    window = prod([rhs[dim] for dim in dims.kernel_spatial_dimensions])
    inputs = rhs[dims.kernel_input_feature_dimension]
    if op.feature_group_count == 1:
        inputs = min(lhs[dims.input_feature_dimension], inputs)
    return int(2 * result * window * inputs * _share_in_input(op))


def _share_in_input(op: ConvolutionOp) -> Fraction:
    """The share of the positions of a convolution's window that are elements of its input.

    The others are padding, or in the gaps of a dilated input, as in the gradient of a strided convolution.
    """
    shapes = [
        value_type.shape
        for value_type in (*op.operand_types, *op.signature.result_types)
        if isinstance(value_type, RankedShapedType)
    ]
    dims = op.dimension_numbers
    count = len(dims.input_spatial_dimensions)
    steps = [
        list(numbers or (1,) * count) for numbers in (op.window_strides, op.lhs_dilation, op.rhs_dilation)
    ]
    padding = padding_pairs(op.signature, op.padding) or ((0, 0),) * count
    share = Fraction(1)
    for position in range(count):
        sizes = (
            shapes[0][dims.input_spatial_dimensions[position]],
            shapes[1][dims.kernel_spatial_dimensions[position]],
            shapes[2][dims.output_spatial_dimensions[position]],
        )
        if DYNAMIC in sizes or 0 in sizes:
            return Fraction(1)
        stride, gap, spread = (step[position] for step in steps)
        share *= Fraction(
            sum(
                _in_input(sizes, stride, gap, element * spread - padding[position][0])
                for element in range(sizes[1])
            ),
            sizes[1] * sizes[2],
        )
    return share


def _in_input(sizes: tuple[int, int, int], stride: int, gap: int, start: int) -> int:
    """In how many of the places of a window its element, first at `start`, is one of the input."""
    size, _, places = sizes
    first = max(0, -(start // stride))
    last = min(places - 1, ((size - 1) * gap - start) // stride)
    if gap == 1:
        return max(0, last - first + 1)
    step = gcd(stride, gap)
    if start % step:
        return 0
    # The places repeat after so many; find the first one, and count.
    period = gap // step
    for place in range(first, min(first + period, last + 1)):
        if (place * stride + start) % gap == 0:
            return (last - place) // period + 1
    return 0


def _ragged_dot(op: RaggedDotOp, lhs: Shape, rhs: Shape, out: Shape) -> int:
    """2 · m · n · k: each row of the ragged dimension, or each element that is summed, is in one group."""
    dims = op.ragged_dot_dimension_numbers
    # A ragged contracting dimension is divided among the groups, which are the first dimension of the result.
    groups = 1 if set(dims.lhs_ragged_dimensions) <= set(dims.lhs_contracting_dimensions) else 0
    contracted = [
        min(lhs[left], rhs[right])
        for left, right in zip(dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions, strict=True)
    ]
    return 2 * prod(out[groups:]) * prod(contracted)


def _fft(op: FftOp, operand: Shape, _: Shape, out: Shape) -> int:
    """5 · n · log2 n of each transform of n complex numbers, half of it of real ones."""
    is_real = op.fft_type.value in ("RFFT", "IRFFT")
    doublings = log2(max(1, prod(op.fft_length)))
    return int((5 if is_real else 10) * max(prod(operand), prod(out)) * doublings) // 2


FLOPS: dict[type[Op], FlopsOf] = {
    FftOp: _fft,
    RaggedDotOp: _ragged_dot,
    ConvolutionOp: _convolution,
    DotGeneralOp: _dot_general,
    DotOp: _dot,
}


F = TypeVar("F", bound=FlopsOf)


def flops(*op_classes: type[Op]) -> Callable[[F], F]:
    """Registers the function that counts the FLOPs of operations of these classes.

    It gets the operation, and the shapes of its first operand, of its second one, or the first again, and of
    its first result. They are those of one device, and, for the useful FLOPs, those of the whole tensors.
    """

    def register(function: F) -> F:
        check_parameters(function, 4, "flops")
        for op_class in op_classes:
            assert op_class not in FLOPS, f"{op_class.name} has two functions of FLOPs"
            FLOPS[op_class] = function
        return function

    return register


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
        batch = prod(out[: len(dims.lhs_batching_dimensions)])
        rows = prod(out[len(dims.lhs_batching_dimensions) : len(lhs) - len(dims.lhs_contracting_dimensions)])
    elif isinstance(op, ConvolutionOp):
        rows = prod(out) // max(1, out[op.dimension_numbers.output_feature_dimension])
        features = lhs[op.dimension_numbers.input_feature_dimension]
        batch = min(op.feature_group_count, max(1, features), max(1, prod(out) // max(1, rows)))
    else:
        rows = prod(out[:-1])
    columns = prod(out) // max(1, batch * rows)
    return batch, rows, columns, flops // max(1, 2 * batch * rows * columns)


def elementwise_figures(module: Op, shapes: LocalShapes, counts: ExecutionCounts) -> Elementwise:
    """The elementwise operations of a program, over all runs; those of unknown size or number are counted."""
    elementwise = Elementwise()
    chains: dict[Op, set[Op]] = {}
    for op in module.walk():
        is_of_block = isinstance(op.parent, Block) and bool(op.operands) and len(op.results) == 1
        is_in_chain = is_of_block and (isinstance(op, BroadcastInDimOp) or is_elementwise(op.signature))
        if not is_in_chain:
            continue
        chains[op] = {op}
        # Definitions come first, so that their chains are known.
        for operand in op.operands:
            before = operand.defining_op
            if before is not None and before in chains and before.parent is op.parent:
                # Joins the chains of two operations: the smaller one becomes part of the larger one.
                smaller, larger = sorted((chains[op], chains[before]), key=len)
                if smaller is not larger:
                    larger |= smaller
                    chains.update(dict.fromkeys(smaller, larger))
        times = counts.times(op)
        sizes = [_bytes(value, shapes) for value in (*dict.fromkeys(op.operands), *op.results)]
        elementwise.count += 1
        if times is None or None in sizes:
            elementwise.unknown += 1
        else:
            elementwise.alone += times.high * sum(size or 0 for size in sizes)
    for chain in {id(chain): chain for chain in chains.values()}.values():
        first = next(iter(chain))
        times = counts.times(first)
        read = dict.fromkeys(value for op in chain for value in op.operands if value.defining_op not in chain)
        written = [
            value for op in chain for value in op.results if any(user not in chain for user in value.users)
        ]
        if times is not None:
            elementwise.fused += times.high * sum(_bytes(value, shapes) or 0 for value in (*read, *written))
    return elementwise


def _bytes(value: Value, shapes: LocalShapes) -> int | None:
    op = value.defining_op
    return 0 if op is not None and constant_of(op) is not None else shapes.bytes(value)
