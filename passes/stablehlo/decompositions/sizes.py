"""Sizes of dimensions as values: tensors of one or more 64-bit integers."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp
from sdyopt.mlir.dialects.stablehlo.conversion import ConvertOp
from sdyopt.mlir.dialects.stablehlo.shapes import GetDimensionSizeOp, ReshapeOp
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.types import I32, I64, RankedTensor
from sdyopt.mlir.ir.value import Value

from .numbers import OpBuilder

SCALAR, ROW = RankedTensor((), I64), RankedTensor((1,), I64)


def constant_integers(value: int, shape: tuple[int, ...], builder: OpBuilder) -> Value:
    """A constant of this shape whose elements are a number."""
    return builder.constant(RankedTensor(shape, I64), value.to_bytes(8, "little", signed=True))


def dimension_size(operand: Value, dimension: int, builder: OpBuilder) -> Value:
    """The size of a dimension at run time, as a scalar."""
    attribute = IntegerAttr(dimension, I64)
    scalar = builder.create(GetDimensionSizeOp, [operand], RankedTensor((), I32), dimension=attribute)
    return builder.create(ConvertOp, [scalar], SCALAR)


def as_row(scalar: Value, builder: OpBuilder) -> Value:
    """A scalar as a tensor of one element."""
    return builder.create(ReshapeOp, [scalar], ROW)


def concatenated(rows: Sequence[Value], builder: OpBuilder) -> Value:
    """A tensor of the elements of tensors of one element."""
    type = RankedTensor((len(rows),), I64)
    return builder.create(ConcatenateOp, rows, type, dimension=IntegerAttr(0, I64))
