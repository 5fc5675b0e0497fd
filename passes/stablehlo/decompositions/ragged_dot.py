"""A ragged dot product as dot products of the groups, of operands in which all other rows are zero."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.chlo.operations import RaggedDotOp
from sdyopt.mlir.dialects.shape import ShapeOfOp
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp, DynamicBroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotDimensions, DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.conversion import ConvertOp
from sdyopt.mlir.dialects.stablehlo.nullary import DynamicIotaOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.precision import Precision
from sdyopt.mlir.dialects.stablehlo.shapes import DynamicReshapeOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import RealDynamicSliceOp, SliceOp
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, dense_array, element_size
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I64, INDEX, RankedTensor
from sdyopt.mlir.ir.value import Value

from .numbers import Number, OpBuilder, as_row, concatenated, constant_integers, dimension_size, ranked


def ragged_dot(op: RaggedDotOp, rewriter: Rewriter) -> list[Value] | None:
    """The result of a ragged dot product; None if the number of groups is dynamic."""
    builder = OpBuilder(op, rewriter)
    lhs, rhs, result = ranked(op.lhs), ranked(op.rhs), ranked(op.results[0])
    dims = op.ragged_dot_dimension_numbers
    dot_dims = DotDimensions(
        dims.lhs_batching_dimensions,
        dims.rhs_batching_dimensions,
        dims.lhs_contracting_dimensions,
        dims.rhs_contracting_dimensions,
    )
    if lhs.rank >= rhs.rank and lhs.rank >= result.rank:
        # Groups of batches do not depend on each other.
        return [_dot(op, [op.lhs, op.rhs], dot_dims, result, builder)]
    if DYNAMIC in ranked(op.group_sizes).shape:
        return None
    if lhs.rank < rhs.rank:
        return _sum_of_groups(op, dot_dims, builder)
    return _stack_of_groups(op, dot_dims, builder)


def _sum_of_groups(op: RaggedDotOp, dims: DotDimensions, builder: OpBuilder) -> list[Value] | None:
    """The sum over the groups of lhs, each with its own slice of rhs."""
    dimension = op.ragged_dot_dimension_numbers.rhs_group_dimensions[0]
    count = ranked(op.rhs).shape[dimension]
    if count == DYNAMIC:
        return None
    batching, contracting = (
        tuple([other - (other > dimension) for other in dimensions])
        for dimensions in (dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions)
    )
    dims = DotDimensions(dims.lhs_batching_dimensions, batching, dims.lhs_contracting_dimensions, contracting)
    groups, result = _Groups(op, builder), ranked(op.results[0])
    sum: Value | None = None
    for index in range(count):
        operands = [groups.next_masked(index), _rhs_slice(op.rhs, dimension, index, builder)]
        product = _dot(op, operands, dims, result, builder)
        sum = product if sum is None else builder.create(hlo.AddOp, [sum, product], result)
    return None if sum is None else [sum]


def _stack_of_groups(op: RaggedDotOp, dims: DotDimensions, builder: OpBuilder) -> list[Value]:
    """The results of the groups of the contracting dimension, along a new first dimension."""
    groups, result = _Groups(op, builder), ranked(op.results[0])
    type = RankedTensor(result.shape[1:], result.element)
    products = [
        _dot(op, [groups.next_masked(index), op.rhs], dims, type, builder)
        for index in range(ranked(op.group_sizes).shape[-1])
    ]
    stacked = RankedTensor((1, *type.shape), type.element)
    rows = []
    for product in products:
        if type.has_static_shape:
            rows.append(builder.create(ReshapeOp, [product], stacked))
            continue
        sizes = [constant_integers(1, (1,), builder)]
        sizes += [
            as_row(dimension_size(product, dimension, builder), builder) for dimension in range(type.rank)
        ]
        shape = concatenated(sizes, builder)
        rows.append(builder.create(DynamicReshapeOp, [product, shape], stacked))
    return [builder.create(ConcatenateOp, rows, result, dimension=IntegerAttr(0, I64))]


def _dot(
    op: RaggedDotOp, operands: Sequence[Value], dims: DotDimensions, type: RankedTensor, builder: OpBuilder
) -> Value:
    attributes: dict[str, Attribute] = {"dot_dimension_numbers": dims}
    if op.precision_config is not None:
        precisions = [Precision(precision.value) for precision in op.precision_config]
        attributes["precision_config"] = ArrayAttr(tuple(precisions))
    return builder.create(DotGeneralOp, operands, type, **attributes)


class _Groups:
    """The groups of the ragged dimension of lhs: where they start, and lhs with only one of them."""

    def __init__(self, op: RaggedDotOp, builder: OpBuilder) -> None:
        self._op = op
        self._builder = builder
        self._lhs = op.lhs
        self._type = ranked(op.lhs)
        self._batch = ranked(op.group_sizes).shape[:-1]
        self._start = Number(constant_integers(0, self._batch, builder), builder)
        self._positions = self._positions_of_rows(op.ragged_dot_dimension_numbers.lhs_ragged_dimensions[0])
        self._zero = builder.constant_like(op.lhs, bytes(element_size(self._type.element)))

    def next_masked(self, index: int) -> Value:
        """lhs with zeros outside of a group; groups are asked for in order."""
        limit = self._start + self._group_size(index)
        low, high = self._broadcast(self._start), self._broadcast(limit)
        positions = self._broadcast(self._positions, range(self._type.rank))
        is_past_start = positions >= low
        is_inside = is_past_start & (positions < high)
        self._start = limit
        lhs, zero = Number(self._lhs, self._builder), Number(self._zero, self._builder)
        return is_inside.select(lhs, zero).value

    def _group_size(self, index: int) -> Number:
        type = ranked(self._op.group_sizes)
        value = self._builder.create(
            SliceOp,
            [self._op.group_sizes],
            RankedTensor((*self._batch, 1), type.element),
            start_indices=dense_array(I64, (*[0] * len(self._batch), index)),
            limit_indices=dense_array(I64, (*self._batch, index + 1)),
            strides=dense_array(I64, [1] * type.rank),
        )
        value = self._builder.create(ReshapeOp, [value], RankedTensor(self._batch, type.element))
        if type.element is not I64:
            value = self._builder.create(ConvertOp, [value], RankedTensor(self._batch, I64))
        return Number(value, self._builder)

    def _positions_of_rows(self, ragged: int) -> Number:
        """The index along the ragged dimension, with size 1 in all others."""
        size, rank = self._type.shape[ragged], self._type.rank
        type = RankedTensor(tuple([size if dim == ragged else 1 for dim in range(rank)]), I64)
        dimension = IntegerAttr(ragged, I64)
        if size != DYNAMIC:
            value = self._builder.create(IotaOp, (), type, iota_dimension=dimension)
            return Number(value, self._builder)
        sizes = [
            as_row(dimension_size(self._lhs, dim, self._builder), self._builder)
            if dim == ragged
            else constant_integers(1, (1,), self._builder)
            for dim in range(rank)
        ]
        shape = concatenated(sizes, self._builder)
        value = self._builder.create(DynamicIotaOp, [shape], type, iota_dimension=dimension)
        return Number(value, self._builder)

    def _broadcast(self, number: Number, dimensions: Sequence[int] | None = None) -> Number:
        """A number with the shape of lhs; its dimensions are the batching ones unless given."""
        if dimensions is None:
            dimensions = range(len(self._batch))
        type, attribute = RankedTensor(self._type.shape, I64), dense_array(I64, dimensions)
        if not self._type.has_static_shape:
            shape = self._builder.create(ShapeOfOp, [self._lhs], RankedTensor((self._type.rank,), INDEX))
            value = self._builder.create(
                DynamicBroadcastInDimOp, [number.value, shape], type, broadcast_dimensions=attribute
            )
            return Number(value, self._builder)
        value = self._builder.create(BroadcastInDimOp, [number.value], type, broadcast_dimensions=attribute)
        return Number(value, self._builder)


def _rhs_slice(rhs: Value, group: int, index: int, builder: OpBuilder) -> Value:
    """The slice of rhs for a group, without the group dimension."""
    type = ranked(rhs)
    shape = [1 if dim == group else size for dim, size in enumerate(type.shape)]
    slice_type = RankedTensor(tuple(shape), type.element)
    kept = [dim for dim in range(type.rank) if dim != group]
    result = RankedTensor(tuple([shape[dim] for dim in kept]), type.element)
    if type.has_static_shape:
        starts = [index if dim == group else 0 for dim in range(type.rank)]
        limits = [index + 1 if dim == group else size for dim, size in enumerate(type.shape)]
        value = builder.create(
            SliceOp,
            [rhs],
            slice_type,
            start_indices=dense_array(I64, starts),
            limit_indices=dense_array(I64, limits),
            strides=dense_array(I64, [1] * type.rank),
        )
        return builder.create(ReshapeOp, [value], result)
    starts_and_limits = []
    for dim in range(type.rank):
        start = constant_integers(index if dim == group else 0, (1,), builder)
        if dim == group:
            limit = constant_integers(index + 1, (1,), builder)
        else:
            limit = as_row(dimension_size(rhs, dim, builder), builder)
        starts_and_limits.append((start, limit))
    start = concatenated([start for start, _ in starts_and_limits], builder)
    limit = concatenated([limit for _, limit in starts_and_limits], builder)
    strides = constant_integers(1, (type.rank,), builder)
    value = builder.create(RealDynamicSliceOp, [rhs, start, limit, strides], slice_type)
    new_shape = concatenated([starts_and_limits[dim][1] for dim in kept], builder)
    return builder.create(DynamicReshapeOp, [value, new_shape], result)
