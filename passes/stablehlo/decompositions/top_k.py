"""The largest elements: a sort of the operand with its indices, and a slice of both."""

from __future__ import annotations

from sdyopt.mlir.dialects.chlo.operations import TopKOp
from sdyopt.mlir.dialects.stablehlo.compare_select import CompareOp, ComparisonDirection, ComparisonType
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp
from sdyopt.mlir.dialects.stablehlo.nullary import DynamicIotaOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.reduction import SortOp
from sdyopt.mlir.dialects.stablehlo.slicing import RealDynamicSliceOp, SliceOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import TRUE, IntegerAttr, dense_array
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I1, I32, I64, FloatType, RankedTensor, Type
from sdyopt.mlir.ir.value import Value

from .numbers import OpBuilder, as_row, concatenated, constant_integers, dimension_size, ranked


def top_k(op: TopKOp, rewriter: Rewriter) -> list[Value]:
    """The values and indices of the largest elements along the last dimension."""
    builder, type = OpBuilder(op, rewriter), ranked(op.operand)
    last = IntegerAttr(type.rank - 1, I64)
    indices_type = RankedTensor(type.shape, I32, type.encoding)
    limits: Value | None = None
    if type.has_static_shape:
        indices = builder.create(IotaOp, (), indices_type, iota_dimension=last)
    else:
        sizes = [_size(op.operand, dimension, builder) for dimension in range(type.rank)]
        shape = concatenated(sizes, builder)
        limits = concatenated([*sizes[:-1], _constant_size(op.k, builder)], builder)
        indices = builder.create(DynamicIotaOp, [shape], indices_type, iota_dimension=last)
    sort = rewriter.create(
        SortOp,
        [op.operand, indices],
        [type, indices.type],
        {"dimension": last, "is_stable": TRUE},
        before=op,
        location=op.lazy_location,
        regions=[_comparator(op, rewriter, type.element)],
    )
    if limits is not None:
        start = constant_integers(0, (type.rank,), builder)
        stride = constant_integers(1, (type.rank,), builder)
        return [
            builder.create(RealDynamicSliceOp, [sorted, start, limits, stride], result.type)
            for sorted, result in zip(sort.results, op.results, strict=True)
        ]
    return [
        builder.create(
            SliceOp,
            [sorted],
            result.type,
            start_indices=dense_array(I64, [0] * type.rank),
            limit_indices=dense_array(I64, (*type.shape[:-1], op.k)),
            strides=dense_array(I64, [1] * type.rank),
        )
        for sorted, result in zip(sort.results, op.results, strict=True)
    ]


def _size(operand: Value, dimension: int, builder: OpBuilder) -> Value:
    """The size of a dimension, as a tensor of one element."""
    size = ranked(operand).shape[dimension]
    if size != DYNAMIC:
        return _constant_size(size, builder)
    return as_row(dimension_size(operand, dimension, builder), builder)


def _constant_size(size: int, builder: OpBuilder) -> Value:
    return as_row(constant_integers(size, (), builder), builder)


def _comparator(op: TopKOp, rewriter: Rewriter, element: Type) -> Region:
    """Whether an element comes before another one, in descending order; NaN is the largest."""
    region = Region()
    block = region.add_block()
    for scalar in (element, element, I32, I32):
        block.add_argument(RankedTensor((), scalar), op.lazy_location)
    attributes: dict[str, Attribute] = {"comparison_direction": ComparisonDirection("GT")}
    if isinstance(element, FloatType):
        attributes["compare_type"] = ComparisonType("TOTALORDER")
    comparison = rewriter.create(
        CompareOp,
        block.arguments[:2],
        [RankedTensor((), I1)],
        attributes,
        at_end_of=block,
        location=op.lazy_location,
    )
    rewriter.create(ReturnOp, comparison.results, at_end_of=block, location=op.lazy_location)
    return region
