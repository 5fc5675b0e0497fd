"""The loops of StableHLO operations, as their sharding rules have them: a loop for each factor.

A factor that may not be split, or whose parts would have to know where they are, is a loop that stays
whole. Splitting what is put together leaves parts to be combined; that is done where it is known how.
"""

from __future__ import annotations

from sdyopt.dialects.arith.folding import element_type, elements
from sdyopt.dialects.mesh.reduction import ReductionKind
from sdyopt.dialects.mesh.shard_op import ShardOp
from sdyopt.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.ir.elements_attributes import DenseElements
from sdyopt.ir.folding import constant_value
from sdyopt.ir.operation import Op
from sdyopt.ir.types import FloatType, IntegerType, RankedTensor
from sdyopt.ir.value import Value
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of

from .iterator_types import IterationSpace, IteratorType, Map

# Operations that are on shards what they are on the whole, but for the types.
_LOCAL = frozenset(
    f"stablehlo.{name}"
    for name in ("broadcast_in_dim", "concatenate", "dot", "dot_general", "reduce", "reshape", "transpose")
)

# How what the body of a reduction does is called, and from which number it starts in vain.
_COMBINERS = {
    "stablehlo.add": (ReductionKind.SUM, 0),
    "stablehlo.multiply": (ReductionKind.PRODUCT, 1),
}


def stablehlo_iteration_space(op: Op) -> IterationSpace | None:
    """The loops of an operation; None if it cannot be sharded."""
    types = (*op.operand_types, *op.result_types)
    if not all(isinstance(type, RankedTensor) for type in types):
        return None
    if op.name == "stablehlo.constant":
        return _constant(op)
    rule = sharding_rule_of(op)
    if rule is None:
        return None
    if len(rule.operands) != len(op.operand_types) or len(rule.results) != len(op.result_types):
        return None
    whole = {*rule.need_replication, *rule.permutation, *rule.blocked_propagation}
    combiner = _combiner(op)
    if combiner is None:
        whole.update(rule.reduction)
    kinds = tuple(
        IteratorType.WHOLE
        if factor in whole
        else IteratorType.REDUCTION
        if factor in rule.reduction
        else IteratorType.PARALLEL
        for factor in range(len(rule.factor_sizes))
    )
    return IterationSpace(
        kinds,
        tuple(_map(mapping) for mapping in rule.operands),
        tuple(_map(mapping) for mapping in rule.results),
        combiner or ReductionKind.GENERIC,
        is_local=op.name in _LOCAL or _is_elementwise(rule),
        needs_loops=False,
    )


def _map(mapping: TensorMapping) -> Map:
    """The loop of each dimension; None for one that is made of several factors, or none."""
    return tuple(dim.factors[0] if len(dim.factors) == 1 else None for dim in mapping.dims)


def _is_elementwise(rule: OpShardingRule) -> bool:
    """Whether each element comes of those at the same place; scalars go everywhere."""
    identity = tuple(range(len(rule.factor_sizes)))
    return all(_map(mapping) in (identity, ()) for mapping in rule.tensors)


def _constant(op: Op) -> IterationSpace:
    """All parts of a constant are alike if all of its elements are."""
    type = op.result_types[0]
    assert isinstance(type, RankedTensor)
    value = constant_value(op)
    is_splat = isinstance(value, DenseElements) and value.is_splat
    identity = tuple(range(type.rank))
    kind = IteratorType.PARALLEL if is_splat else IteratorType.WHOLE
    return IterationSpace((kind,) * type.rank, (), (identity,), is_local=True, needs_loops=False)


def _combiner(op: Op) -> ReductionKind | None:
    """How the parts of a split reduction are put together, if that is possible."""
    if op.name in ("stablehlo.dot", "stablehlo.dot_general"):
        return ReductionKind.SUM
    if op.name != "stablehlo.reduce" or len(op.results) != 1:
        return None
    first, *rest = list(op.regions[0].blocks[0].ops)
    if first.name not in _COMBINERS or len(rest) != 1:
        return None
    kind, neutral = _COMBINERS[first.name]
    return kind if _is_number(op.operand_at(1), neutral) else None


def _is_number(value: Value, number: int) -> bool:
    """Whether a value is this number: parts that started from another would count it several times."""
    source = value.defining_op
    while isinstance(source, ShardOp):
        source = source.src.defining_op
    found = constant_value(source)
    if not isinstance(found, DenseElements) or not found.is_splat:
        return False
    type, bits = element_type(found), elements(found)[0]
    if isinstance(type, FloatType):
        bias = type.format.bias << type.format.mantissa_bits
        return bits == (bias if number else 0)
    return isinstance(type, IntegerType) and bits == number
