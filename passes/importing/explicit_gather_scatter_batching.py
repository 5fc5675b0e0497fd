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

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherDimensions, GatherOp, ScatterDimensions
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from ..common.support.index_vectors import is_row_number, without_component


@register("sdy-explicit-gather-scatter-batching")
class ExplicitGatherScatterBatching(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        changed, has_converged = apply_greedily(function, _patterns_of)
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


def _patterns_of(op_class: type[Op]) -> Sequence[Pattern]:
    return _PATTERNS.get(op_class, ())


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
