"""Operations of CHLO that are not elementwise: ragged dot products, scans and largest elements."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.chlo.operations import RaggedDotOp, ScanOp, TopKOp
from sdyopt.mlir.dialects.shape import ShapeOfOp
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.dialects.stablehlo.compare_select import (
    CompareOp,
    ComparisonDirection,
    ComparisonType,
    ConvertOp,
)
from sdyopt.mlir.dialects.stablehlo.contraction import DotDimensions, DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.nullary import DynamicIotaOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.precision import Precision
from sdyopt.mlir.dialects.stablehlo.reduction import SortOp
from sdyopt.mlir.dialects.stablehlo.shapes import (
    BroadcastInDimOp,
    DynamicBroadcastInDimOp,
    DynamicReshapeOp,
    ReshapeOp,
)
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    RealDynamicSliceOp,
    SliceOp,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import TRUE, IntegerAttr, dense_array, element_size
from sdyopt.mlir.ir.interfaces import terminator_of
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I1, I32, I64, INDEX, FloatType, RankedTensor, Type
from sdyopt.mlir.ir.value import Value

from .numbers import SCALAR, Number, OpBuilder, as_row, concatenated, constant_integers, dimension_size


def ragged_dot(op: RaggedDotOp, rewriter: Rewriter) -> list[Value] | None:
    """The result of a ragged dot product; None if the number of groups is dynamic."""
    builder = _Builder(op, rewriter)
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


def _sum_of_groups(op: RaggedDotOp, dims: DotDimensions, builder: _Builder) -> list[Value] | None:
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
        operands = [groups.next_masked(index), builder.rhs_slice(op.rhs, dimension, index)]
        product = _dot(op, operands, dims, result, builder)
        sum = product if sum is None else builder.create(hlo.AddOp, [sum, product], result)
    return None if sum is None else [sum]


def _stack_of_groups(op: RaggedDotOp, dims: DotDimensions, builder: _Builder) -> list[Value]:
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
    op: RaggedDotOp, operands: Sequence[Value], dims: DotDimensions, type: RankedTensor, builder: _Builder
) -> Value:
    attributes: dict[str, Attribute] = {"dot_dimension_numbers": dims}
    if op.precision_config is not None:
        precisions = [Precision(precision.value) for precision in op.precision_config]
        attributes["precision_config"] = ArrayAttr(tuple(precisions))
    return builder.create(DotGeneralOp, operands, type, **attributes)


class _Groups:
    """The groups of the ragged dimension of lhs: where they start, and lhs with only one of them."""

    def __init__(self, op: RaggedDotOp, builder: _Builder) -> None:
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


class _Builder(OpBuilder):
    """A builder of the operations that decompositions have in common."""

    def rhs_slice(self, rhs: Value, group: int, index: int) -> Value:
        """The slice of rhs for a group, without the group dimension."""
        type = ranked(rhs)
        shape = [1 if dim == group else size for dim, size in enumerate(type.shape)]
        slice_type = RankedTensor(tuple(shape), type.element)
        kept = [dim for dim in range(type.rank) if dim != group]
        result = RankedTensor(tuple([shape[dim] for dim in kept]), type.element)
        if type.has_static_shape:
            starts = [index if dim == group else 0 for dim in range(type.rank)]
            limits = [index + 1 if dim == group else size for dim, size in enumerate(type.shape)]
            value = self.create(
                SliceOp,
                [rhs],
                slice_type,
                start_indices=dense_array(I64, starts),
                limit_indices=dense_array(I64, limits),
                strides=dense_array(I64, [1] * type.rank),
            )
            return self.create(ReshapeOp, [value], result)
        starts_and_limits = []
        for dim in range(type.rank):
            start = constant_integers(index if dim == group else 0, (1,), self)
            if dim == group:
                limit = constant_integers(index + 1, (1,), self)
            else:
                limit = as_row(dimension_size(rhs, dim, self), self)
            starts_and_limits.append((start, limit))
        start = concatenated([start for start, _ in starts_and_limits], self)
        limit = concatenated([limit for _, limit in starts_and_limits], self)
        strides = constant_integers(1, (type.rank,), self)
        value = self.create(RealDynamicSliceOp, [rhs, start, limit, strides], slice_type)
        new_shape = concatenated([starts_and_limits[dim][1] for dim in kept], self)
        return self.create(DynamicReshapeOp, [value, new_shape], result)

    def constant_size(self, size: int) -> Value:
        """The size of a dimension as a constant; it is converted, as that of a dynamic dimension is."""
        narrow = self.constant(RankedTensor((), I32), size.to_bytes(4, "little"))
        return self.create(ConvertOp, [narrow], SCALAR)

    def zeros(self, type: RankedTensor, like: Value | None) -> Value:
        """Zeros, with the shape of a value if the type is dynamic."""
        zero = self.constant(RankedTensor((), type.element), bytes(element_size(type.element)))
        dims = dense_array(I64, ())
        if type.has_static_shape or like is None:
            return self.create(BroadcastInDimOp, [zero], type, broadcast_dimensions=dims)
        shape = self.create(ShapeOfOp, [like], RankedTensor((ranked(like).rank,), INDEX))
        return self.create(DynamicBroadcastInDimOp, [zero, shape], type, broadcast_dimensions=dims)

    def slice(self, value: Value, dimension: int, position: Number) -> Value:
        """The slice of an input at a position, without the scanned dimension."""
        type = ranked(value)
        shape = tuple([1 if dim == dimension else size for dim, size in enumerate(type.shape)])
        slice_type = RankedTensor(shape, type.element)
        zero = constant_integers(0, (), self)
        starts = [position.value if dim == dimension else zero for dim in range(type.rank)]
        if type.has_static_shape:
            sizes = dense_array(I64, shape)
            sliced = self.create(DynamicSliceOp, [value, *starts], slice_type, slice_sizes=sizes)
        else:
            start = self._row_of(starts)
            limits = [self._limit(value, dim, dimension, position) for dim in range(type.rank)]
            limit = self._row_of(limits)
            strides = constant_integers(1, (type.rank,), self)
            sliced = self.create(RealDynamicSliceOp, [value, start, limit, strides], slice_type)
        kept = tuple([size for dim, size in enumerate(shape) if dim != dimension])
        return self.create(ReshapeOp, [sliced], RankedTensor(kept, type.element))

    def _limit(self, value: Value, dim: int, dimension: int, position: Number) -> Value:
        size = ranked(value).shape[dim]
        if dim == dimension:
            one = Number(constant_integers(1, (), self), self)
            return (position + one).value
        return dimension_size(value, dim, self) if size == DYNAMIC else self.constant_size(size)

    def _row_of(self, scalars: Sequence[Value]) -> Value:
        return concatenated([as_row(scalar, self) for scalar in scalars], self)

    def update(self, output: Value, element: Value, dimension: int, position: Number) -> Value:
        type = ranked(output)
        shape = tuple([1 if dim == dimension else size for dim, size in enumerate(type.shape)])
        row = self.create(ReshapeOp, [element], RankedTensor(shape, type.element))
        zero = constant_integers(0, (), self)
        starts = [position.value if dim == dimension else zero for dim in range(type.rank)]
        return self.create(DynamicUpdateSliceOp, [output, row, *starts], type)

    def size(self, operand: Value, dimension: int) -> Value:
        """The size of a dimension, as a tensor of one element."""
        size = ranked(operand).shape[dimension]
        if size != DYNAMIC:
            return self.size_row(size)
        return as_row(dimension_size(operand, dimension, self), self)

    def size_row(self, size: int) -> Value:
        return as_row(constant_integers(size, (), self), self)


def scan(op: ScanOp, rewriter: Rewriter) -> list[Value] | None:
    """The results of a scan; None if there is no input whose size a dynamic dimension has."""
    builder = _Builder(op, rewriter)
    types = [ranked(result) for result in op.results]
    if not op.inputs and types[0].shape[op.dimension] == DYNAMIC:
        return None
    if op.inputs:
        size = dimension_size(op.inputs[0], op.dimension, builder)
    else:
        size = builder.constant_size(types[0].shape[op.dimension])
    count = len(op.outputs)
    initial = [constant_integers(0, (), builder), *op.inits]
    for index, type in enumerate(types[:count]):
        like = op.inputs[index if index < len(op.inputs) else 0] if op.inputs else None
        initial.append(builder.zeros(type, like))
    cond, body = Region(), Region()
    loop_types = [ranked(value) for value in initial]
    loop = rewriter.create(
        WhileOp, initial, loop_types, before=op, location=op.lazy_location, regions=[cond, body]
    )
    for region in (cond, body):
        block = region.add_block()
        for type in loop_types:
            block.add_argument(type, op.lazy_location)
    _fill_condition(cond.blocks[0], size, op, rewriter)
    _fill_body(body.blocks[0], size, op, rewriter)
    carried = 1 + len(op.inits)
    return [*loop.results[carried:], *loop.results[1:carried]]


def _fill_condition(block: Block, size: Value, op: ScanOp, rewriter: Rewriter) -> None:
    builder = _Builder(op, rewriter, {"at_end_of": block})
    is_inside = Number(block.arguments[0], builder) < Number(size, builder)
    rewriter.create(ReturnOp, [is_inside.value], at_end_of=block, location=op.lazy_location)


def _fill_body(block: Block, size: Value, op: ScanOp, rewriter: Rewriter) -> None:
    builder = _Builder(op, rewriter, {"at_end_of": block})
    index = Number(block.arguments[0], builder)
    carries = block.arguments[1 : 1 + len(op.inits)]
    outputs = block.arguments[1 + len(op.inits) :]
    position = index
    if op.is_reverse:
        last = Number(size, builder) - 1
        position = last - index
    scanned = op.regions[0].blocks[0]
    slices = [builder.slice(value, op.dimension, position) for value in op.inputs]
    values: dict[Value, Value] = dict(zip(scanned.arguments, [*slices, *carries], strict=True))
    terminator = terminator_of(op.regions[0])
    for inner in scanned.ops:
        if inner is not terminator:
            rewriter.insert(rewriter.clone(inner, values), at_end_of=block)
    returned = [values.get(value, value) for value in terminator.operands]
    updated = [
        builder.update(output, element, op.dimension, position)
        for output, element in zip(outputs, returned, strict=False)
    ]
    following = index + 1
    yielded = [following.value, *returned[len(outputs) :], *updated]
    rewriter.create(ReturnOp, yielded, at_end_of=block, location=op.lazy_location)


def top_k(op: TopKOp, rewriter: Rewriter) -> list[Value]:
    """The values and indices of the largest elements along the last dimension."""
    builder, type = _Builder(op, rewriter), ranked(op.operand)
    last = IntegerAttr(type.rank - 1, I64)
    indices_type = RankedTensor(type.shape, I32, type.encoding)
    limits: Value | None = None
    if type.has_static_shape:
        indices = builder.create(IotaOp, (), indices_type, iota_dimension=last)
    else:
        sizes = [builder.size(op.operand, dimension) for dimension in range(type.rank)]
        shape = concatenated(sizes, builder)
        limits = concatenated([*sizes[:-1], builder.size_row(op.k)], builder)
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
