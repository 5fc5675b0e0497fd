"""Sharding models of tosa."""

from __future__ import annotations

from sdyopt.mlir.dialects.mesh.attributes import ReductionKind
from sdyopt.mlir.dialects.tosa import ElementwiseOp, MatMulOp
from sdyopt.mlir.ir.operation import Op

from ..sharding_interface import IterationSpace, IteratorType, ShardingModel, elementwise

# Batch, rows, columns and the contracting dimension.
_MATMUL = IterationSpace(
    (IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.REDUCTION),
    ((0, 1, 3), (0, 3, 2)),
    ((0, 1, 2),),
    ReductionKind.SUM,
    is_trivially_shardable=False,
)


def find_model(op: Op) -> ShardingModel | None:
    if isinstance(op, ElementwiseOp):
        return elementwise
    return _matmul if isinstance(op, MatMulOp) else None


def _matmul(_op: Op) -> IterationSpace:
    return _MATMUL
