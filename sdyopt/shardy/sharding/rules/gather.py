"""Sharding rules of gather and scatter.

Both address slices of an operand by a tensor of indices: the slices are the result of a gather and the
updates of a scatter. Every dimension of the slices corresponds to a dimension of the operand (a window
dimension), of the indices (a batch dimension) or of both (a batching dimension of operand and indices).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, MaxOp, MinOp, MulOp, OrOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherDimensions, GatherOp, ScatterDimensions
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder, Reduction
from sdyopt.shardy.sharding.op_sharding_rule_table import sharding_rule


@sharding_rule(GatherOp, reduction=Reduction.ADD)
def gather(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([k, j], [i, l])->([i, j]) reduction={k} need_replication={l}

    i is a batch dimension, j a window dimension. If k is sharded, each device gathers the slices that are in
    its own shard, and zeros for the others; the result is the sum over the devices.
    """
    dims = signature[GatherOp.dimension_numbers]
    operand, indices = signature[GatherOp.operand].shape, signature[GatherOp.start_indices].shape
    for slice_dim, size, dim, indices_dim in _slice_dims(
        signature[GatherOp.result].shape, len(operand), dims
    ):
        if dim is None or indices_dim is not None or operand[dim] == size:
            builder.add_factor(size, [dim, indices_dim], [slice_dim])
        elif size == 1:
            builder.add_factor(operand[dim], [dim, None], [None], FactorType.REDUCTION)
            builder.add_factor(size, [None, None], [slice_dim], FactorType.NEED_REPLICATION)
        else:
            builder.add_factor(
                operand[dim], [dim, None], [slice_dim], FactorType.NEED_REPLICATION, is_blocked=True
            )
    for dim in dims.collapsed_slice_dims:
        factor_type = FactorType.NEED_REPLICATION if operand[dim] == 1 else FactorType.REDUCTION
        builder.add_factor(operand[dim], [dim, None], [None], factor_type)
    if (vector := dims.index_vector_dim) < len(indices):
        builder.add_factor(indices[vector], [None, vector], [None], FactorType.NEED_REPLICATION)


def _has_commutative_reducer(op: ScatterOp) -> bool:
    """Whether one commutative operation combines the elements and updates of every input."""
    block = op.update_computation.entry
    terminator = None if block is None else block.last
    if block is None or not isinstance(terminator, ReturnOp):
        return False
    reducers = {_reducer(block.arguments, index, value) for index, value in enumerate(terminator.operands)}
    return len(reducers) == 1 and None not in reducers


@sharding_rule(ScatterOp, context=_has_commutative_reducer, reduction=Reduction.REGION)
def scatter(signature: OpSignature, builder: OpShardingRuleBuilder, is_commutative: bool) -> None:
    """([k, j], [i, l], [i, j])->([k, j]) reduction={i} need_replication={l}

    If i is sharded, each device scatters its own updates, and the results are reduced over the devices. This
    needs a commutative reducer; otherwise i needs replication.
    """
    dims = _gather_dimensions(signature[ScatterOp.scatter_dimension_numbers])
    count = len(signature[ScatterOp.inputs])
    operand = signature[ScatterOp.inputs][0].shape
    indices, updates = signature[ScatterOp.scatter_indices].shape, signature[ScatterOp.updates][0].shape

    def add_factor(
        size: int, dim: int | None, indices_dim: int | None, update_dim: int | None, factor_type: FactorType
    ) -> None:
        builder.add_factor(
            size, [dim] * count + [indices_dim] + [update_dim] * count, [dim] * count, factor_type
        )

    for update_dim, size, dim, indices_dim in _slice_dims(updates, len(operand), dims):
        if dim is None:
            factor_type = FactorType.REDUCTION if is_commutative else FactorType.NEED_REPLICATION
            add_factor(size, None, indices_dim, update_dim, factor_type)
        elif indices_dim is not None or operand[dim] == size:
            add_factor(size, dim, indices_dim, update_dim, FactorType.PASS_THROUGH)
        else:
            add_factor(operand[dim], dim, None, None, FactorType.NEED_REPLICATION)
            add_factor(size, None, None, update_dim, FactorType.NEED_REPLICATION)
    for dim in dims.collapsed_slice_dims:
        add_factor(operand[dim], dim, None, None, FactorType.PASS_THROUGH)
    if (vector := dims.index_vector_dim) < len(indices):
        add_factor(indices[vector], None, vector, None, FactorType.NEED_REPLICATION)


class _SliceDim(NamedTuple):
    """A dimension of the slices, and the corresponding dimensions of operand and indices."""

    slice_dim: int
    size: int
    operand_dim: int | None
    indices_dim: int | None


def _slice_dims(slice_shape: Sequence[int], operand_rank: int, dims: GatherDimensions) -> Iterator[_SliceDim]:
    non_window_dims = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
    window_dims = iter([dim for dim in range(operand_rank) if dim not in non_window_dims])
    indices_dims = iter([dim for dim in range(len(slice_shape) + 1) if dim != dims.index_vector_dim])
    operand_batching_dims = dict(
        zip(dims.start_indices_batching_dims, dims.operand_batching_dims, strict=True)
    )
    for slice_dim, size in enumerate(slice_shape):
        if slice_dim in dims.offset_dims:
            yield _SliceDim(slice_dim, size, next(window_dims), None)
        else:
            indices_dim = next(indices_dims)
            yield _SliceDim(slice_dim, size, operand_batching_dims.get(indices_dim), indices_dim)


def _gather_dimensions(dims: ScatterDimensions) -> GatherDimensions:
    """The dimension numbers of the gather that reads the slices which a scatter writes."""
    return GatherDimensions(
        dims.update_window_dims,
        dims.inserted_window_dims,
        dims.input_batching_dims,
        dims.scatter_indices_batching_dims,
        dims.scatter_dims_to_operand_dims,
        dims.index_vector_dim,
    )


_REDUCERS = (AddOp, MulOp, MaxOp, MinOp)


def _reducer(arguments: Sequence[Value], index: int, value: Value) -> type[Op] | None:
    """The commutative operation that combines the element and update of input `index`, if there is one."""
    op = value.defining_op
    is_logical = isinstance(op, AndOp | OrOp) and element_of(value.type) is I1
    if op is None or not (is_logical or isinstance(op, _REDUCERS)):
        return None
    elements = {arguments[index], arguments[index + len(arguments) // 2]}
    return type(op) if set(op.operands) == elements else None
