"""Index vectors of gathers and scatters: the vectors of an integer tensor along one dimension.

Each component of the vectors is often a tensor of its own, and a concatenate combines them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.builtin_attributes import dense_array, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value


def is_row_number(indices: Value, dimension: int, component: int) -> bool:
    """Whether a component of the vectors along `dimension` is the row number: an iota along dimension 0.

    Clamps and selects of the iota count as the iota, as in the C++ pass. Unlike there, reshapes and
    broadcasts count only if the rows of the result are those of the iota.
    """
    rows = _shape(indices)[0]
    concatenate = indices.defining_op
    if isinstance(concatenate, ConcatenateOp):
        inputs = concatenate.inputs
        if concatenate.dimension != dimension or component >= len(inputs):
            return False
        if sum(_shape(value)[dimension] for value in inputs[:component]) != component:
            return False
        indices = inputs[component]
    source, row_dimension = _source(indices)
    iota = source.defining_op
    if not isinstance(iota, IotaOp) or iota.iota_dimension != 0:
        return False
    # The number of a single row is 0, which is also the only element of an iota of size 1.
    return row_dimension == 0 if rows != 1 else _shape(source)[0] == 1


def _source(value: Value) -> tuple[Value, int | None]:
    """The source of a value before reshapes, broadcasts, clamps and selects, and its dimension with the rows.

    Dimension 0 of the value has the rows. The dimension is None if none of the source has them.
    """
    rows: int | None = 0
    while (op := value.defining_op) is not None:
        if isinstance(op, ReshapeOp):
            rows = None if rows is None else _before_reshape(_shape(op.operand), _shape(value), rows)
            value = op.operand
        elif isinstance(op, BroadcastInDimOp):
            rows = _before_broadcast(op, rows)
            value = op.operand
        elif isinstance(op, ClampOp):
            value = op.operand
        elif isinstance(op, SelectOp):
            value = op.on_false if isinstance(op.on_false.defining_op, IotaOp) else op.on_true
        else:
            break
    return value, rows


def _before_reshape(before: Sequence[int], after: Sequence[int], dimension: int) -> int | None:
    """The dimension before a reshape with the indices of `dimension` after it; None if there is none."""
    size, stride = after[dimension], prod(after[dimension + 1 :])
    for candidate, other in enumerate(before):
        if other == size and prod(before[candidate + 1 :]) == stride:
            return candidate
    return None


def _before_broadcast(op: BroadcastInDimOp, dimension: int | None) -> int | None:
    """The dimension of the operand that becomes `dimension` of the result; None if it is expanded."""
    if dimension not in op.broadcast_dimensions:
        return None
    operand_dimension = op.broadcast_dimensions.index(dimension)
    is_expanded = _shape(op.operand)[operand_dimension] != _shape(op.result)[dimension]
    return None if is_expanded else operand_dimension


def _shape(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, RankedTensor)
    return value.type.shape


def without_component(
    indices: Value, dimension: int, component: int, before: Op, rewriter: Rewriter
) -> Value:
    """The vectors along `dimension` without one component, created before an operation."""
    type = indices.type
    assert isinstance(type, RankedTensor)
    count = type.shape[dimension]
    definition = indices.defining_op
    if (
        isinstance(definition, ConcatenateOp)
        and definition.dimension == dimension
        and len(definition.inputs) == count
    ):
        kept = [value for index, value in enumerate(definition.inputs) if index != component]
    else:
        ranges = [(0, component), (component + 1, count)]
        kept = [
            _slice(indices, type, dimension, start, end, before, rewriter)
            for start, end in ranges
            if start < end
        ]
    if len(kept) == 1:
        return kept[0]
    attributes = {"dimension": integer(dimension, I64)}
    result = _resized(type, dimension, count - 1)
    return rewriter.create(
        ConcatenateOp, kept, [result], attributes, before=before, location=before.lazy_location
    ).result


def _slice(
    indices: Value, type: RankedTensor, dimension: int, start: int, end: int, before: Op, rewriter: Rewriter
) -> Value:
    starts, limits = [0] * type.rank, list(type.shape)
    starts[dimension], limits[dimension] = start, end
    attributes = {
        "start_indices": dense_array(I64, starts),
        "limit_indices": dense_array(I64, limits),
        "strides": dense_array(I64, [1] * type.rank),
    }
    result = _resized(type, dimension, end - start)
    return rewriter.create(
        SliceOp, [indices], [result], attributes, before=before, location=before.lazy_location
    ).result


def _resized(type: RankedTensor, dimension: int, size: int) -> RankedTensor:
    shape = list(type.shape)
    shape[dimension] = size
    return tensor(tuple(shape), type.element)
