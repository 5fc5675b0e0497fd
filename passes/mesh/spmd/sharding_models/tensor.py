"""Sharding models of tensor; LLVM 19 has none."""

from __future__ import annotations

from sdyopt.base.dataclasses import replace
from sdyopt.mlir.dialects.mesh.attributes import mesh
from sdyopt.mlir.dialects.mesh.mesh_op import mesh_dialect_of
from sdyopt.mlir.dialects.tensor.values import EmptyOp
from sdyopt.mlir.ir.operation import Op

from ..sharding_interface import IterationSpace, ShardingModel, elementwise


def find_model(op: Op) -> ShardingModel | None:
    return _empty if isinstance(op, EmptyOp) and mesh_dialect_of(op) is not mesh else None


def _empty(op: Op) -> IterationSpace | None:
    """A tensor of static shape, which is as empty on each device."""
    space = elementwise(op)
    return None if space is None else replace(space, requires_iterators=False)
