"""Checks that an operation without a lowering can run unchanged on the shards of its operands.

This follows from its sharding rule: along a pass-through or reduction factor, an operation needs no other
shards; a reduction leaves partial results, which a following collective combines. Along any other factor it
needs whole dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

_HELP = "run -sdy-resolve-permutation-factors and -sdy-reshard-to-collectives before"


def check_is_local(op: Op, local: LocalContext) -> None:
    """Raises an error if an operation reads elements of other shards."""
    if op.is_terminator or op.data_flow is not None:
        return
    if not any(any(local.axes_per_dim(value)) for value in (*op.operands, *op.results)):
        return
    rule = sharding_rule_of(op)
    if rule is None:
        raise op.op_error("has sharded operands or results, and no sharding rule").help(_HELP)
    for what, value, dim in _crossing_dims(op, rule):
        if local.axes_per_dim(value)[dim]:
            raise op.op_error(
                f"dimension {dim} of {what} is sharded, and the operation needs elements of other shards"
            ).help(_HELP)


def _crossing_dims(op: Op, rule: OpShardingRule) -> Iterator[tuple[str, Value, int]]:
    """The dimensions along which an operation needs elements of other shards."""
    crossing = {*rule.need_replication, *rule.permutation}
    if not crossing:
        return
    for kind, values, mappings in (
        ("operand", op.operands, rule.operands),
        ("result", op.results, rule.results),
    ):
        for number, (value, mapping) in enumerate(zip(values, mappings, strict=True)):
            for dim, factors in enumerate(mapping.dims):
                if crossing.intersection(factors.factors):
                    yield f"{kind} {number}", value, dim
