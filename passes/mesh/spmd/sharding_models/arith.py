"""Sharding models of arith; LLVM 19 has none."""

from __future__ import annotations

from sdyopt.mlir.dialects.arith.compare import CmpIOp, ConstantOp
from sdyopt.mlir.dialects.arith.floats import FloatBinary, NegFOp
from sdyopt.mlir.dialects.arith.integers import IntegerBinary
from sdyopt.mlir.dialects.mesh.attributes import mesh
from sdyopt.mlir.dialects.mesh.mesh_op import mesh_dialect_of
from sdyopt.mlir.ir.operation import Op

from ..sharding_interface import ShardingModel, elementwise, splat_constant


def find_model(op: Op) -> ShardingModel | None:
    if isinstance(op, ConstantOp):
        return splat_constant if mesh_dialect_of(op) is not mesh else None
    if not isinstance(op, IntegerBinary | FloatBinary | NegFOp | CmpIOp):
        return None
    return elementwise if mesh_dialect_of(op) is not mesh else None
