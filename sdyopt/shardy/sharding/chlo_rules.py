"""Sharding rules of chlo's operations, which the registry of sharding rules does not know.

Propagation stops at these operations, as in Shardy, unless they have their rule as an attribute.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.chlo.elementwise import NextAfterOp, PolygammaOp, ZetaOp
from sdyopt.mlir.dialects.chlo.operations import TopKOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.shardy.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder

# Elementwise operations that chlo does not declare as such.
_ELEMENTWISE = (NextAfterOp, PolygammaOp, ZetaOp)


def chlo_rule_of(op: Op) -> OpShardingRule | None:
    """The rule of a chlo operation: a top-k, or an elementwise operation on tensors of one static shape."""
    if op.dialect_name != "chlo":
        return None
    rule: object = None
    if isinstance(op, TopKOp):
        rule = op.signature.cached(_top_k_rule)
    elif isinstance(op, _ELEMENTWISE) or (ELEMENTWISE in op.traits and SAME_SHAPE in op.traits):
        rule = op.signature.cached(_elementwise_rule)
    assert rule is None or isinstance(rule, OpShardingRule)
    return rule


def _elementwise_rule(signature: OpSignature) -> OpShardingRule | None:
    types = (*signature.operand_types, *signature.result_types)
    first = types[0]
    if not isinstance(first, RankedTensor) or not first.has_static_shape:
        return None
    if any(not isinstance(type, RankedTensor) or type.shape != first.shape for type in types):
        return None
    builder = OpShardingRuleBuilder(signature.operand_types, signature.result_types)
    builder.add_pointwise(first.shape)
    return builder.build()


def _top_k_rule(signature: OpSignature) -> OpShardingRule | None:
    """([i, j])->([i, j], [i, j]) need_replication={j} blocked_propagation={j}"""
    (type,) = signature.operand_types
    if not isinstance(type, RankedTensor) or not type.has_static_shape:
        return None
    builder = OpShardingRuleBuilder(signature.operand_types, signature.result_types)
    builder.add_pointwise(type.shape[:-1])
    builder.add_common_factor(type.rank - 1, type.shape[-1], FactorType.NEED_REPLICATION, is_blocked=True)
    return builder.build()
