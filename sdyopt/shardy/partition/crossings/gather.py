"""gather: dimensions of size 1 that are kept."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards, dims_with_factors
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


@crosses_shards(GatherOp)
def gather(op: GatherOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions by the rule, and those of size 1 that the result has: all shards but one are padding."""
    yield from by_rule(op, types)
    rule = sharding_rule_of(op)
    if rule is None:
        return
    dims = op.dimension_numbers
    for dim, (size, mapping) in enumerate(zip(shape_of(op.operand), rule.operands[0].dims, strict=True)):
        if size == 1 and dim not in dims.operand_batching_dims:
            yield from dims_with_factors(rule, set(mapping.factors) - set(rule.reduction))
