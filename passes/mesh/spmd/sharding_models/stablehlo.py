"""Sharding models of StableHLO, from the sharding rules: an iterator per factor.

Need-replication, permutation and blocked-propagation factors cannot be sharded, because the operation
cannot be applied to shards as it is. A reduction factor can be sharded where partial results can
be combined.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.arith.dialect import element_type, elements
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind
from sdyopt.mlir.dialects.mesh.shard_op import ShardOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MulOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FloatType, IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

from ..sharding_interface import IndexingMap, IterationSpace, ShardedIterator, ShardingModel, splat_constant

# Operations that are trivially shardable although they are not elementwise.
_TRIVIALLY_SHARDABLE: frozenset[type[Op]] = frozenset(
    {BroadcastInDimOp, ConcatenateOp, DotOp, DotGeneralOp, ReduceOp, ReshapeOp, TransposeOp}
)

# The reduction kind and the neutral element of a reducer with this operation.
_REDUCERS: dict[type[Op], tuple[ReductionKind, int]] = {
    AddOp: (ReductionKind.SUM, 0),
    MulOp: (ReductionKind.PRODUCT, 1),
}


def find_model(op: Op) -> ShardingModel | None:
    if isinstance(op, ConstantOp):
        return splat_constant
    return None if op.regions and not isinstance(op, ReduceOp) else _from_sharding_rule


def _from_sharding_rule(op: Op) -> IterationSpace | None:
    types = (*op.operand_types, *op.result_types)
    if not all(isinstance(type, RankedTensor) for type in types):
        return None
    rule = sharding_rule_of(op)
    if rule is None:
        return None
    if len(rule.operands) != len(op.operand_types) or len(rule.results) != len(op.result_types):
        return None
    reduction_kind = _reduction_kind(op)
    return IterationSpace(
        _iterator_types(rule, are_reductions_shardable=reduction_kind is not None),
        tuple(_indexing_map(mapping) for mapping in rule.operands),
        tuple(_indexing_map(mapping) for mapping in rule.results),
        reduction_kind or ReductionKind.GENERIC,
        is_trivially_shardable=type(op) in _TRIVIALLY_SHARDABLE or _is_elementwise(rule),
        requires_iterators=False,
    )


def _iterator_types(rule: OpShardingRule, are_reductions_shardable: bool) -> tuple[ShardedIterator, ...]:
    """The iterator type of each factor."""
    types = [ShardedIterator.PARALLEL] * len(rule.factor_sizes)
    for factor in rule.reduction:
        types[factor] = ShardedIterator.REDUCTION if are_reductions_shardable else ShardedIterator.REPLICATED
    for factor in (*rule.need_replication, *rule.permutation, *rule.blocked_propagation):
        types[factor] = ShardedIterator.REPLICATED
    return tuple(types)


def _indexing_map(mapping: TensorMapping) -> IndexingMap:
    """The factor of each dimension; None for a dimension of several factors, or of none."""
    return tuple(dim.factors[0] if len(dim.factors) == 1 else None for dim in mapping.dims)


def _is_elementwise(rule: OpShardingRule) -> bool:
    """Whether all indexing maps are the identity, or those of scalars."""
    identity = tuple(range(len(rule.factor_sizes)))
    return all(_indexing_map(mapping) in (identity, ()) for mapping in rule.tensors)


def _reduction_kind(op: Op) -> ReductionKind | None:
    """The combination of partial results of a sharded reduction; None if there is none."""
    if isinstance(op, DotOp | DotGeneralOp):
        return ReductionKind.SUM
    if not isinstance(op, ReduceOp) or len(op.results) != 1:
        return None
    reducer, *rest = list(op.regions[0].blocks[0].ops)
    if type(reducer) not in _REDUCERS or len(rest) != 1:
        return None
    kind, neutral = _REDUCERS[type(reducer)]
    return kind if _is_splat_of(op.operand_at(1), neutral) else None


def _is_splat_of(value: Value, number: int) -> bool:
    """Whether an init value is the neutral element; any other would be combined once per shard."""
    source = value.defining_op
    while isinstance(source, ShardOp):
        source = source.src.defining_op
    constant = constant_value(source)
    if not isinstance(constant, DenseElements) or not constant.is_splat:
        return False
    type, bits = element_type(constant), elements(constant)[0]
    if isinstance(type, FloatType):
        one = type.format.bias << type.format.mantissa_bits
        return bits == (one if number else 0)
    return isinstance(type, IntegerType) and bits == number
