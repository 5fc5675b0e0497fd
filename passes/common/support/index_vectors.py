"""Index vectors of gathers and scatters: the vectors of an integer tensor along one dimension.

Each component of the vectors is often a tensor of its own, and a concatenate combines them.
"""

from __future__ import annotations

from sdyopt.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.dialects.stablehlo.compare_select import ClampOp, SelectOp
from sdyopt.dialects.stablehlo.concatenate_pad import ConcatenateOp
from sdyopt.dialects.stablehlo.nullary import IotaOp
from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.dialects.stablehlo.slicing import SliceOp
from sdyopt.ir.elements_attributes import dense_array
from sdyopt.ir.numeric_attributes import integer
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import I64, RankedTensor, tensor
from sdyopt.ir.value import Value


def is_row_number(indices: Value, dimension: int, component: int) -> bool:
    """Whether a component of the vectors along `dimension` is the row number: an iota along dimension 0.

    Reshapes, broadcasts, clamps and selects of the iota count as the iota, as in the reference.
    """
    concatenate = indices.defining_op
    if isinstance(concatenate, ConcatenateOp):
        if concatenate.dimension != dimension or component >= len(concatenate.inputs):
            return False
        indices = concatenate.inputs[component]
    source = _source(indices).defining_op
    return isinstance(source, IotaOp) and source.iota_dimension == 0


def _source(value: Value) -> Value:
    """The source of a value, through reshapes, broadcasts, clamps and selects."""
    while (op := value.defining_op) is not None:
        if isinstance(op, ReshapeOp | BroadcastInDimOp | ClampOp):
            value = op.operand
        elif isinstance(op, SelectOp):
            value = op.on_false if isinstance(op.on_false.defining_op, IotaOp) else op.on_true
        else:
            break
    return value


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
        ConcatenateOp, kept, [result], attributes, before=before, location=before.location
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
        SliceOp, [indices], [result], attributes, before=before, location=before.location
    ).result


def _resized(type: RankedTensor, dimension: int, size: int) -> RankedTensor:
    shape = list(type.shape)
    shape[dimension] = size
    return tensor(tuple(shape), type.element)
