"""Sharding models of linalg."""

from __future__ import annotations

from sdyopt.mlir.dialects.linalg import FillOp, MatmulOp
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind, mesh
from sdyopt.mlir.dialects.mesh.mesh_op import mesh_dialect_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor

from ..sharding_interface import IterationSpace, IteratorType, ShardingModel

# Rows, columns and the contracting dimension.
_MATMUL = IterationSpace(
    (IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.REDUCTION),
    ((0, 2), (2, 1), (0, 1)),
    ((0, 1),),
    ReductionKind.SUM,
)


def find_model(op: Op) -> ShardingModel | None:
    if isinstance(op, FillOp) and mesh_dialect_of(op) is not mesh:
        return _fill
    return _matmul if isinstance(op, MatmulOp) else None


def _matmul(_op: Op) -> IterationSpace:
    return _MATMUL


def _fill(op: Op) -> IterationSpace | None:
    """A fill of a tensor; the scalar is on every device. LLVM 19 has no model of it."""
    (type,) = op.result_types or (None,)
    if not isinstance(type, RankedTensor):
        return None
    identity = tuple(range(type.rank))
    parallel = (IteratorType.PARALLEL,) * type.rank
    return IterationSpace(parallel, ((), identity), (identity,), requires_iterators=False)
