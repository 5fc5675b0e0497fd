"""The sharding rule of rng_bit_generator."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.random import RngBitGeneratorOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(RngBitGeneratorOp)
def rng_bit_generator(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i])->([i], [j]) need_replication={i} blocked_propagation={i}: every device needs the whole state"""
    for dim, size in enumerate(signature[RngBitGeneratorOp.initial_state].shape):
        builder.add_factor(size, [dim], [dim, None], FactorType.NEED_REPLICATION, is_blocked=True)
    for dim, size in enumerate(signature[RngBitGeneratorOp.output].shape):
        builder.add_factor(size, [None], [None, dim])
