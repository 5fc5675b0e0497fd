"""Operations that combine elements along a padded dimension: the padding must not change the result."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import binary_body
from sdyopt.shardy.partition.identities import identity_of, is_identity
from sdyopt.shardy.partition.local_builder import ranked, shape_of
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape


@pads(DotGeneralOp)
def pad_dot_general(op: DotGeneralOp, padder: Padder) -> Padded:
    """Fills both paddings with zeros: zero times undefined padding in the other operand could be NaN."""
    dims = op.dot_dimension_numbers
    lhs = padder.mask_with_zero(op, op.lhs, unpadded_shape(op, 0), dims.lhs_contracting)
    rhs = padder.mask_with_zero(op, op.rhs, unpadded_shape(op, 1), dims.rhs_contracting)
    _set_operands(op, [lhs, rhs], padder)
    return None


@pads(DotOp)
def pad_dot(op: DotOp, padder: Padder) -> Padded:
    """As for dot_general: the last dimension of the left operand and the first of the right one."""
    lhs = padder.mask_with_zero(op, op.lhs, unpadded_shape(op, 0), [len(unpadded_shape(op, 0)) - 1])
    _set_operands(op, [lhs, padder.mask_with_zero(op, op.rhs, unpadded_shape(op, 1), [0])], padder)
    return None


@pads(ReduceOp)
def pad_reduce(op: ReduceOp, padder: Padder) -> Padded:
    """Fills the padding with the identity of the reduction or, if none is known, with the initial value."""
    inputs = []
    for number, (input, init) in enumerate(zip(op.inputs, op.init_values, strict=True)):
        unpadded = unpadded_shape(op, number)
        if any(shape_of(input)[dim] != unpadded[dim] for dim in op.dimensions):
            input = padder.mask(op, input, unpadded, op.dimensions, _filler(op, number, init, padder))
        inputs.append(input)
    _set_operands(op, [*inputs, *op.init_values], padder)
    return None


def _filler(op: ReduceOp, number: int, init: Value, padder: Padder) -> Value:
    combiner, type = binary_body(op.body, number), ranked(init)
    identity = None if combiner is None else identity_of(combiner, type.element)
    if combiner is None or identity is None or is_identity(combiner, init):
        return init
    return padder.builder(op).splat(type, identity)


def _set_operands(op: DotGeneralOp | DotOp | ReduceOp, operands: list[Value], padder: Padder) -> None:
    if operands != op.operands:
        padder.rewriter.set_operands(op, operands)
