"""Rules of elementwise operations that the registry of sharding rules does not know, such as those of chlo.

Propagation stops at them, as in the reference, unless they have their rule as an attribute.
"""

from __future__ import annotations

from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.ir.types import RankedTensor
from sdyopt.sharding.op_sharding_rule_builder import OpShardingRuleBuilder

_DIALECTS = ("chlo",)


def elementwise_rule_of(op: Op) -> OpShardingRule | None:
    """The rule of an elementwise operation of chlo on tensors of one shape; None for other operations."""
    if op.dialect_name not in _DIALECTS or ELEMENTWISE not in op.traits or SAME_SHAPE not in op.traits:
        return None
    rule = op.signature.cached(_rule)
    assert rule is None or isinstance(rule, OpShardingRule)
    return rule


def _rule(signature: OpSignature) -> OpShardingRule | None:
    types = (*signature.operand_types, *signature.result_types)
    first = types[0]
    if not isinstance(first, RankedTensor) or not first.has_static_shape:
        return None
    if any(not isinstance(type, RankedTensor) or type.shape != first.shape for type in types):
        return None
    builder = OpShardingRuleBuilder(signature.operand_types, signature.result_types)
    builder.add_pointwise(first.shape)
    return builder.build()
