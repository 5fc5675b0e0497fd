"""Sharding rules of gather and scatter, which are each other's reverse.

Slices lie in an operand at places that a tensor of indices gives. Gather takes them from there,
scatter puts updates there. In both, every dimension of the slices comes from the operand (a window) or
from the indices (a batch), or from both (a batch that the operand has as well).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sdyopt.dialects.stablehlo.binary import AddOp, AndOp, MaxOp, MinOp, MulOp, OrOp
from sdyopt.dialects.stablehlo.control_flow import ReturnOp
from sdyopt.dialects.stablehlo.gather import GatherOp
from sdyopt.dialects.stablehlo.index_dimensions import GatherDimensions, ScatterDimensions
from sdyopt.dialects.stablehlo.scatter import ScatterOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.types import I1, element_of
from sdyopt.ir.value import Value
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(GatherOp)
def gather(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([k, j], [i, l])->([i, j]) reduction={k} need_replication={l}

    i is the batch, j a window. A device that holds some of k gathers what it can from there, and zeros
    otherwise, so that the sum over devices is what all would gather.
    """
    dims: GatherDimensions = signature.dimension_numbers
    operand, indices = signature.operand.shape, signature.start_indices.shape
    for slice_dim, size, dim, indices_dim in _origins(signature.result.shape, len(operand), dims):
        if dim is None or indices_dim is not None or operand[dim] == size:
            rule.add_factor(size, [dim, indices_dim], [slice_dim])
        elif size == 1:
            rule.add_factor(operand[dim], [dim, None], [None], FactorType.REDUCTION)
            rule.add_factor(size, [None, None], [slice_dim], FactorType.NEED_REPLICATION)
        else:
            rule.add_factor(
                operand[dim], [dim, None], [slice_dim], FactorType.NEED_REPLICATION, is_blocked=True
            )
    for dim in dims.collapsed_slice_dims:
        factor_type = FactorType.NEED_REPLICATION if operand[dim] == 1 else FactorType.REDUCTION
        rule.add_factor(operand[dim], [dim, None], [None], factor_type)
    if (vector := dims.index_vector_dim) < len(indices):
        rule.add_factor(indices[vector], [None, vector], [None], FactorType.NEED_REPLICATION)


def _adds_up(op: ScatterOp) -> bool:
    """Whether all updates are put together in one way, by which their order does not matter."""
    block = op.update_computation.entry
    last = None if block is None else block.last
    if block is None or not isinstance(last, ReturnOp):
        return False
    reducers = {_reducer(block.arguments, index, value) for index, value in enumerate(last.operands)}
    return len(reducers) == 1 and None not in reducers


@sharding_rule(ScatterOp, seeing=_adds_up)
def scatter(signature: OpSignature, rule: OpShardingRuleBuilder, adds_up: bool) -> None:
    """([k, j], [i, l], [i, j])->([k, j]) reduction={i} need_replication={l}

    A device that holds some of the updates scatters those into zeros, if all can be put together later.
    """
    dims = _reversed(signature.scatter_dimension_numbers)
    count = len(signature.inputs)
    operand, indices = signature.inputs[0].shape, signature.scatter_indices.shape

    def factor(
        size: int, dim: int | None, indices_dim: int | None, update_dim: int | None, factor_type: FactorType
    ) -> None:
        rule.add_factor(
            size, [dim] * count + [indices_dim] + [update_dim] * count, [dim] * count, factor_type
        )

    for update_dim, size, dim, indices_dim in _origins(signature.updates[0].shape, len(operand), dims):
        if dim is None:
            factor_type = FactorType.REDUCTION if adds_up else FactorType.NEED_REPLICATION
            factor(size, None, indices_dim, update_dim, factor_type)
        elif indices_dim is not None or operand[dim] == size:
            factor(size, dim, indices_dim, update_dim, FactorType.PASS_THROUGH)
        else:
            factor(operand[dim], dim, None, None, FactorType.NEED_REPLICATION)
            factor(size, None, None, update_dim, FactorType.NEED_REPLICATION)
    for dim in dims.collapsed_slice_dims:
        factor(operand[dim], dim, None, None, FactorType.PASS_THROUGH)
    if (vector := dims.index_vector_dim) < len(indices):
        factor(indices[vector], None, vector, None, FactorType.NEED_REPLICATION)


class _Origin(NamedTuple):
    """A dimension of the slices, and which of operand and indices it is."""

    slice_dim: int
    size: int
    operand_dim: int | None
    indices_dim: int | None


def _origins(slices: Sequence[int], operand_rank: int, dims: GatherDimensions) -> Iterator[_Origin]:
    gone = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
    windows = iter([dim for dim in range(operand_rank) if dim not in gone])
    batches = iter([dim for dim in range(len(slices) + 1) if dim != dims.index_vector_dim])
    paired = dict(zip(dims.start_indices_batching_dims, dims.operand_batching_dims, strict=True))
    for slice_dim, size in enumerate(slices):
        if slice_dim in dims.offset_dims:
            yield _Origin(slice_dim, size, next(windows), None)
        else:
            indices_dim = next(batches)
            yield _Origin(slice_dim, size, paired.get(indices_dim), indices_dim)


def _reversed(dims: ScatterDimensions) -> GatherDimensions:
    """The dimensions of the gather that would take out again what is put in."""
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
    """The operation that makes returned value number `index`, if it only puts its two elements together."""
    op = value.defining_op
    is_logical = isinstance(op, AndOp | OrOp) and element_of(value.type) is I1
    if op is None or not (is_logical or isinstance(op, _REDUCERS)):
        return None
    pair = {arguments[index], arguments[index + len(arguments) // 2]}
    return type(op) if set(op.operands) == pair else None
