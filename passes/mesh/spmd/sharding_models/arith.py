"""Sharding models of arith; LLVM 19 has none."""

from __future__ import annotations

from sdyopt.dialects.arith.compare import CmpIOp
from sdyopt.dialects.arith.floats import FloatBinary, NegFOp
from sdyopt.dialects.arith.integers import IntegerBinary
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.dialect_version import mesh_dialect_of
from sdyopt.ir.operation import Op

from ..iterator_types import elementwise
from ..sharding_interface import ShardingModel


def find_model(op: Op) -> ShardingModel | None:
    if not isinstance(op, IntegerBinary | FloatBinary | NegFOp | CmpIOp):
        return None
    return elementwise if mesh_dialect_of(op) is not mesh else None
