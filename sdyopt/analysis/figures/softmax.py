"""Softmax in attention, for which the compiler for TPU has an operation of its own.

It finds the maximum of each row, and writes the exponentials and their sums. What it reads of a product is
in memory as the product wrote it: of long rows, after the scale and the mask in 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.elementwise import DivOp, ExpOp, MulOp, SubtractOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult, Value

# Rows of at least so many elements are masked, or scaled, before they are written.
_MASKED_ROW = 1536
_LONG_ROW = 4096
# Products of rows of at most so many elements are computed in the softmax.
_SHORT = 64
# Exponentials are summed up and divided; gradients use them, too.
_FORWARD_USES = 2
# At most this many operations are between the product and the exponentials.
_MAX_STEPS = 8


@dataclass(frozen=True, slots=True)
class Softmax:
    """The softmax of a product: `logits` are what the exponentials are of, less the maximum.

    Before that, they are scaled, masked, or both.
    """

    product: DotGeneralOp
    logits: Value
    is_scaled: bool
    is_masked: bool


def softmax_of(op: Op) -> Softmax | None:
    """The softmax whose exponentials an operation computes; None if it is none, or none of a product."""
    if not isinstance(op, ExpOp) or not _is_summed_and_divided(op):
        return None
    shifted = _defining(op.operand_at(0))
    if not isinstance(shifted, SubtractOp):
        return None
    logits = value = shifted.operand_at(0)
    is_scaled = is_masked = False
    # The exponentials of a transposed product are computed again for gradients.
    is_forward = len(list(op.results[0].users)) == _FORWARD_USES
    for _ in range(_MAX_STEPS):
        inner = _defining(value)
        if isinstance(inner, DotGeneralOp):
            return Softmax(inner, logits, is_scaled, is_masked)
        if isinstance(inner, TransposeOp) and is_forward:
            value = inner.operand_at(0)
        elif isinstance(inner, SelectOp):
            is_masked = True
            value = inner.operand_at(1)
        elif isinstance(inner, ConvertOp):
            value = inner.operand_at(0)
        elif isinstance(inner, MulOp | DivOp):
            is_scaled = True
            is_scale_first = isinstance(_defining(inner.operand_at(0)), BroadcastInDimOp)
            value = inner.operand_at(1 if is_scale_first else 0)
        else:
            return None
    return None


def writes_exponentials(softmax: Softmax, shape_of: Callable[[Value], tuple[int, ...] | None]) -> bool:
    """Whether the exponentials are written: not if the only batch is of heads after positions.

    Then the rows are not contiguous in memory. Nor are they if nothing is computed before them.
    """
    shape = shape_of(softmax.product.results[0])
    dims = softmax.product.dot_dimension_numbers
    batch = dims.lhs_batching_dimensions
    if shape is None or not (softmax.is_scaled or softmax.is_masked):
        return shape is None
    sizes = [size for size in shape[: len(batch)] if size > 1]
    return len(sizes) > 1 or (len(sizes) == 1 and batch == tuple(range(len(batch))))


def computes_product(softmax: Softmax, shape_of: Callable[[Value], tuple[int, ...] | None]) -> bool:
    """Whether the product is computed by what computes the softmax, if it is cheap or laid out for it.

    What products compute is laid out for it, too. Long rows are not computed there, if the product is not
    cheap or they are masked.
    """
    dims = softmax.product.dot_dimension_numbers
    shape, rows = shape_of(softmax.product.lhs), shape_of(softmax.logits)
    contracted = 0 if shape is None else prod(shape[dim] for dim in dims.lhs_contracting_dimensions)
    is_cheap = contracted <= _SHORT
    if rows is not None and rows[-1] >= _LONG_ROW and (softmax.is_masked or not is_cheap):
        return False
    return (
        is_cheap
        or dims.lhs_batching_dimensions == tuple(range(len(dims.lhs_batching_dimensions)))
        or all(map(_is_product, softmax.product.operands))
    )


def writes_logits(softmax: Softmax, shape_of: Callable[[Value], tuple[int, ...] | None]) -> bool:
    """Whether what is exponentiated is written as it is, not the product that it is computed from."""
    shape = shape_of(softmax.logits)
    return shape is not None and shape[-1] >= (_MASKED_ROW if softmax.is_masked else _LONG_ROW)


def _is_summed_and_divided(op: ExpOp) -> bool:
    users = list(op.results[0].users)
    is_divided = any(isinstance(user, DivOp) for user in users)
    return is_divided and any(isinstance(_converted(user), ReduceOp) for user in users)


def _converted(user: Op) -> Op:
    while isinstance(user, ConvertOp) and user.results[0].has_one_use:
        user = next(iter(user.results[0].users))
    return user


def _is_product(value: Value) -> bool:
    op = _defining(value)
    while isinstance(op, ReshapeOp):
        op = _defining(op.operand_at(0))
    return isinstance(op, DotGeneralOp)


def _defining(value: Value) -> Op | None:
    return value.op if isinstance(value, OpResult) else None
