"""The sharding rule of random numbers."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.random import RngBitGeneratorOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(RngBitGeneratorOp)
def rng_bit_generator(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i])->([i], [j]) need_replication={i} blocked_propagation={i}: all devices have the state"""
    for dim, size in enumerate(signature.initial_state.shape):
        rule.add_factor(size, [dim], [dim, None], FactorType.NEED_REPLICATION, is_blocked=True)
    for dim, size in enumerate(signature.output.shape):
        rule.add_factor(size, [None], [None, dim])
