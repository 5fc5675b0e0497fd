"""A scan as a loop over the scanned dimension, which slices inputs and updates outputs."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.chlo.operations import ScanOp
from sdyopt.mlir.dialects.shape import ShapeOfOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp, DynamicBroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.conversion import ConvertOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, RealDynamicSliceOp
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import dense_array, element_size
from sdyopt.mlir.ir.interfaces import terminator_of
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I32, I64, INDEX, RankedTensor
from sdyopt.mlir.ir.value import Value

from .numbers import (
    SCALAR,
    Number,
    OpBuilder,
    as_row,
    concatenated,
    constant_integers,
    dimension_size,
    ranked,
)


def scan(op: ScanOp, rewriter: Rewriter) -> list[Value] | None:
    """The results of a scan; None if there is no input whose size a dynamic dimension has."""
    builder = OpBuilder(op, rewriter)
    types = [ranked(result) for result in op.results]
    if not op.inputs and types[0].shape[op.dimension] == DYNAMIC:
        return None
    if op.inputs:
        size = dimension_size(op.inputs[0], op.dimension, builder)
    else:
        size = _constant_size(types[0].shape[op.dimension], builder)
    count = len(op.outputs)
    initial = [constant_integers(0, (), builder), *op.inits]
    for index, type in enumerate(types[:count]):
        like = op.inputs[index if index < len(op.inputs) else 0] if op.inputs else None
        initial.append(_zeros(type, like, builder))
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


def _constant_size(size: int, builder: OpBuilder) -> Value:
    """The size of a dimension as a constant; it is converted, as that of a dynamic dimension is."""
    narrow = builder.constant(RankedTensor((), I32), size.to_bytes(4, "little"))
    return builder.create(ConvertOp, [narrow], SCALAR)


def _zeros(type: RankedTensor, like: Value | None, builder: OpBuilder) -> Value:
    """Zeros, with the shape of a value if the type is dynamic."""
    zero = builder.constant(RankedTensor((), type.element), bytes(element_size(type.element)))
    dims = dense_array(I64, ())
    if type.has_static_shape or like is None:
        return builder.create(BroadcastInDimOp, [zero], type, broadcast_dimensions=dims)
    shape = builder.create(ShapeOfOp, [like], RankedTensor((ranked(like).rank,), INDEX))
    return builder.create(DynamicBroadcastInDimOp, [zero, shape], type, broadcast_dimensions=dims)


def _fill_condition(block: Block, size: Value, op: ScanOp, rewriter: Rewriter) -> None:
    builder = OpBuilder(op, rewriter, {"at_end_of": block})
    is_inside = Number(block.arguments[0], builder) < Number(size, builder)
    rewriter.create(ReturnOp, [is_inside.value], at_end_of=block, location=op.lazy_location)


def _fill_body(block: Block, size: Value, op: ScanOp, rewriter: Rewriter) -> None:
    builder = OpBuilder(op, rewriter, {"at_end_of": block})
    index = Number(block.arguments[0], builder)
    carries = block.arguments[1 : 1 + len(op.inits)]
    outputs = block.arguments[1 + len(op.inits) :]
    position = index
    if op.is_reverse:
        last = Number(size, builder) - 1
        position = last - index
    scanned = op.regions[0].blocks[0]
    slices = [_slice(value, op.dimension, position, builder) for value in op.inputs]
    values: dict[Value, Value] = dict(zip(scanned.arguments, [*slices, *carries], strict=True))
    terminator = terminator_of(op.regions[0])
    for inner in scanned.ops:
        if inner is not terminator:
            rewriter.insert(rewriter.clone(inner, values), at_end_of=block)
    returned = [values.get(value, value) for value in terminator.operands]
    updated = [
        _update(output, element, op.dimension, position, builder)
        for output, element in zip(outputs, returned, strict=False)
    ]
    following = index + 1
    yielded = [following.value, *returned[len(outputs) :], *updated]
    rewriter.create(ReturnOp, yielded, at_end_of=block, location=op.lazy_location)


def _slice(value: Value, dimension: int, position: Number, builder: OpBuilder) -> Value:
    """The slice of an input at a position, without the scanned dimension."""
    type = ranked(value)
    shape = tuple([1 if dim == dimension else size for dim, size in enumerate(type.shape)])
    slice_type = RankedTensor(shape, type.element)
    zero = constant_integers(0, (), builder)
    starts = [position.value if dim == dimension else zero for dim in range(type.rank)]
    if type.has_static_shape:
        sizes = dense_array(I64, shape)
        sliced = builder.create(DynamicSliceOp, [value, *starts], slice_type, slice_sizes=sizes)
    else:
        start = _row_of(starts, builder)
        limits = [_limit(value, dim, dimension, position, builder) for dim in range(type.rank)]
        limit = _row_of(limits, builder)
        strides = constant_integers(1, (type.rank,), builder)
        sliced = builder.create(RealDynamicSliceOp, [value, start, limit, strides], slice_type)
    kept = tuple([size for dim, size in enumerate(shape) if dim != dimension])
    return builder.create(ReshapeOp, [sliced], RankedTensor(kept, type.element))


def _limit(value: Value, dim: int, dimension: int, position: Number, builder: OpBuilder) -> Value:
    size = ranked(value).shape[dim]
    if dim == dimension:
        one = Number(constant_integers(1, (), builder), builder)
        return (position + one).value
    return dimension_size(value, dim, builder) if size == DYNAMIC else _constant_size(size, builder)


def _row_of(scalars: Sequence[Value], builder: OpBuilder) -> Value:
    return concatenated([as_row(scalar, builder) for scalar in scalars], builder)


def _update(output: Value, element: Value, dimension: int, position: Number, builder: OpBuilder) -> Value:
    type = ranked(output)
    shape = tuple([1 if dim == dimension else size for dim, size in enumerate(type.shape)])
    row = builder.create(ReshapeOp, [element], RankedTensor(shape, type.element))
    zero = constant_integers(0, (), builder)
    starts = [position.value if dim == dimension else zero for dim in range(type.rank)]
    return builder.create(DynamicUpdateSliceOp, [output, row, *starts], type)
