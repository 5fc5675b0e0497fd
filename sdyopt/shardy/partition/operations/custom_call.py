"""`custom_call`: the dimensions that need other shards."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.replication import Dim, all_dims, by_rule, crosses_shards, dims_with_factors
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

# Targets that need whole matrices, that is the last two dimensions, whatever their sharding rule is.
_MATRIX_TARGETS = (
    "Eigh",
    "Qr",
    "QrDecompositionBlock",
    "LuDecompositionBlock",
    "Cholesky",
    "TriangularSolve",
)


@crosses_shards(CustomCallOp)
def custom_call(op: CustomCallOp, types: LocalTypes) -> Iterator[Dim]:
    """The dimensions by the rule, those of matrices, and those with factors of only operands or only results.

    All dimensions if there is no rule, or if tensors are sharded differently along one factor, which is
    possible because `sdy-insert-explicit-reshards` skips operations with a custom rule.
    """
    rule = sharding_rule_of(op)
    if rule is None or not _are_compatible(rule, op, types):
        yield from all_dims(op)
        return
    yield from by_rule(op, types)
    operand_factors, result_factors = (
        {factor for mapping in mappings for dim in mapping.dims for factor in dim.factors}
        for mappings in (rule.operands, rule.results)
    )
    yield from dims_with_factors(rule, operand_factors ^ result_factors)
    if op.call_target_name in _MATRIX_TARGETS:
        for place in all_dims(op):
            type = (*op.operands, *op.results)[place.tensor].type
            if isinstance(type, RankedTensor) and place.dim >= type.rank - 2:
                yield place


def _are_compatible(rule: OpShardingRule, op: CustomCallOp, types: LocalTypes) -> bool:
    """Whether all dimensions with the same factors are sharded along the same axes."""
    axes_of: dict[tuple[int, ...], object] = {}
    for value, mapping in zip((*op.operands, *op.results), rule.tensors, strict=True):
        for axes, dim in zip(types.axes_per_dim(value), mapping.dims, strict=False):
            if axes_of.setdefault(dim.factors, axes) != axes:
                return False
    return True
