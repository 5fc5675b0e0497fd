"""The sharding rule of random numbers."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.random import RngBitGeneratorOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.builder import Kind, RuleBuilder
from sdyopt.sharding.rule import sharding_rule


@sharding_rule(RngBitGeneratorOp)
def rng_bit_generator(signature: OpSignature, rule: RuleBuilder) -> None:
    """([i])->([i], [j]) need_replication={i} blocked_propagation={i}: all devices have the state"""
    for dim, size in enumerate(signature.initial_state.shape):
        rule.factor(size, [dim], [dim, None], Kind.NEED_REPLICATION, is_blocked=True)
    for dim, size in enumerate(signature.output.shape):
        rule.factor(size, [None], [None, dim])
