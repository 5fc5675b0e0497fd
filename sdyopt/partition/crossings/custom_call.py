"""Custom calls: what a call computes is known by its target only."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.ir.types import RankedTensor
from sdyopt.partition.local_types import LocalTypes
from sdyopt.partition.replication import Dim, all_dims, by_rule, crosses_shards
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of

# Targets that work on matrices, the last two dimensions, whatever their sharding rule says.
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
    """Matrices are whole, and so is everything that is aliased or has a layout."""
    if sharding_rule_of(op) is None:
        yield from all_dims(op)
        return
    yield from by_rule(op, types)
    if op.call_target_name in _MATRIX_TARGETS:
        for each in all_dims(op):
            type = (*op.operands, *op.results)[each.tensor].type
            if isinstance(type, RankedTensor) and each.dim >= type.rank - 2:
                yield each
