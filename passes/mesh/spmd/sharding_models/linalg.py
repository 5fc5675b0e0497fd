"""Sharding models of linalg."""

from __future__ import annotations

from sdyopt.mlir.dialects.linalg import MatmulOp
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind
from sdyopt.mlir.ir.operation import Op

from ..sharding_interface import IterationSpace, IteratorType, ShardingModel

# Rows, columns and the contracting dimension.
_MATMUL = IterationSpace(
    (IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.REDUCTION),
    ((0, 2), (2, 1), (0, 1)),
    ((0, 1),),
    ReductionKind.SUM,
)


def find_model(op: Op) -> ShardingModel | None:
    return _matmul if isinstance(op, MatmulOp) else None


def _matmul(_op: Op) -> IterationSpace:
    return _MATMUL
