"""sdy-explicit-gather-scatter-batching: make implicit gather/scatter batching explicit.

    %row = stablehlo.iota dim = 0 : tensor<4x3x1xi32>
    %at = stablehlo.concatenate %row, %column, dim = 2 : (…) -> tensor<4x3x2xi32>
    %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
        collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, …}>
becomes
    %0 = "stablehlo.gather"(%a, %column) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
        collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
        start_index_map = [1], index_vector_dim = 2>, …}>

Row i of the operand is indexed by row i of the indices only, but a gather that takes the row number as an
index does not show that: propagation could not shard its operand along the rows. With an explicit batching
dimension it can. The same applies to scatters.

The pass recognizes batching along dimension 0 if there are no batching dimensions yet, if operand and indices
have the same size there, if the dimension is a collapsed or inserted one, if the index into it is an iota
along dimension 0, possibly through reshapes, broadcasts, clamps and selects, and if there are other indices.

The pass is a greedy rewrite, which also folds operations, merges equal constants, erases dead operations and
simplifies regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherDimensions, GatherOp, ScatterDimensions
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp, SliceOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import dense_array, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor, Type, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register


@register("sdy-explicit-gather-scatter-batching")
class ExplicitGatherScatterBatching(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        changed, has_converged = apply_greedily(function, lambda op_class: _PATTERNS.get(op_class, ()))
        if not has_converged:
            raise function.error("rewriting the indices of gathers and scatters did not converge")
        return changed


def _batch_gather(op: GatherOp, rewriter: Rewriter) -> bool:
    dims: GatherDimensions = op.dimension_numbers
    if dims.operand_batching_dims:
        return False
    indices = _Indices(op.start_indices, dims.index_vector_dim, dims.start_index_map)
    component = indices.row_component(op.operand.type, dims.collapsed_slice_dims)
    if component is None:
        return False
    new_dims = GatherDimensions(
        offset_dims=dims.offset_dims,
        collapsed_slice_dims=_without_dimension_0(dims.collapsed_slice_dims),
        operand_batching_dims=(0,),
        start_indices_batching_dims=(0,),
        start_index_map=_without_dimension_0(dims.start_index_map),
        index_vector_dim=dims.index_vector_dim,
    )
    remaining_indices = without_component(op.start_indices, dims.index_vector_dim, component, op, rewriter)
    attributes = {**_attributes(op), "dimension_numbers": new_dims}
    new = rewriter.create(
        GatherOp,
        [op.operand, remaining_indices],
        op.signature.result_types,
        attributes,
        before=op,
        location=op.lazy_location,
    )
    rewriter.replace(op, new)
    return True


def _batch_scatter(op: ScatterOp, rewriter: Rewriter) -> bool:
    dims: ScatterDimensions = op.scatter_dimension_numbers
    if dims.input_batching_dims:
        return False
    indices = _Indices(op.scatter_indices, dims.index_vector_dim, dims.scatter_dims_to_operand_dims)
    component = indices.row_component(op.inputs[0].type, dims.inserted_window_dims)
    if component is None:
        return False
    new_dims = ScatterDimensions(
        update_window_dims=dims.update_window_dims,
        inserted_window_dims=_without_dimension_0(dims.inserted_window_dims),
        input_batching_dims=(0,),
        scatter_indices_batching_dims=(0,),
        scatter_dims_to_operand_dims=_without_dimension_0(dims.scatter_dims_to_operand_dims),
        index_vector_dim=dims.index_vector_dim,
    )
    remaining_indices = without_component(op.scatter_indices, dims.index_vector_dim, component, op, rewriter)
    attributes = {**_attributes(op), "scatter_dimension_numbers": new_dims}
    body = Region()
    rewriter.take_body(op.update_computation, body)
    operands, types = [*op.inputs, remaining_indices, *op.updates], op.signature.result_types
    new = rewriter.create(
        ScatterOp, operands, types, attributes, before=op, location=op.lazy_location, regions=[body]
    )
    rewriter.replace(op, new)
    return True


_PATTERNS = {GatherOp: (Pattern(_batch_gather),), ScatterOp: (Pattern(_batch_scatter),)}


@dataclass(frozen=True, slots=True)
class _Indices:
    """Index vectors along dimension `vector_dim`; component i indexes operand dimension `targets[i]`."""

    value: Value
    vector_dim: int
    targets: Sequence[int]

    def row_component(self, operand: Type, collapsed: Sequence[int]) -> int | None:
        """The component that indexes dimension 0 and is the row number; None if there is none.

        The slices must have one row, so dimension 0 must be in `collapsed`.
        """
        type = self.value.type
        assert isinstance(type, RankedTensor) and isinstance(operand, RankedTensor)
        if not type.rank or not operand.rank or self.vector_dim >= type.rank:
            return None
        # An index vector must not become empty.
        if type.shape[self.vector_dim] <= 1 or type.shape[0] != operand.shape[0]:
            return None
        if 0 not in self.targets or 0 not in collapsed:
            return None
        component = self.targets.index(0)
        return component if is_row_number(self.value, self.vector_dim, component) else None


def _without_dimension_0(dimensions: Sequence[int]) -> tuple[int, ...]:
    return tuple([dimension for dimension in dimensions if dimension != 0])


def _attributes(op: Op) -> dict[str, Attribute]:
    return {**dict(op.signature.attributes), **dict(op.attributes)}


# Index vectors of gathers and scatters: the vectors of an integer tensor along one dimension.
#
# Each component of the vectors is often a tensor of its own, and a concatenate combines them.


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
