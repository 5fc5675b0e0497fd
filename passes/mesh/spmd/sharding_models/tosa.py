"""Sharding models of tosa."""

from __future__ import annotations

from sdyopt.base.dataclasses import replace
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind
from sdyopt.mlir.dialects.tosa import ElementwiseOp, MatMul21Op, MatMulOp, Negate21Op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor

from ..sharding_interface import IterationSpace, ShardedIterator, ShardingModel, elementwise

# Batch, rows, columns and the contracting dimension.
_MATMUL = IterationSpace(
    (ShardedIterator.PARALLEL, ShardedIterator.PARALLEL, ShardedIterator.PARALLEL, ShardedIterator.REDUCTION),
    ((0, 1, 3), (0, 3, 2)),
    ((0, 1, 2),),
    ReductionKind.SUM,
    is_trivially_shardable=False,
)


_MATMUL_21 = replace(_MATMUL, operand_maps=(*_MATMUL.operand_maps, (), ()))


def find_model(op: Op) -> ShardingModel | None:
    if isinstance(op, ElementwiseOp):
        return elementwise
    if isinstance(op, Negate21Op):
        return _negate_21
    if isinstance(op, MatMul21Op):
        return lambda op: _MATMUL_21
    return _matmul if isinstance(op, MatMulOp) else None


def _negate_21(op: Op) -> IterationSpace | None:
    """An elementwise operation with two zero points, which are not sharded."""
    type = op.operand_types[0]
    if not isinstance(type, RankedTensor):
        return None
    identity = tuple(range(type.rank))
    return IterationSpace((ShardedIterator.PARALLEL,) * type.rank, (identity, (), ()), (identity,))


def _matmul(_op: Op) -> IterationSpace:
    return _MATMUL
