"""Which form of the dialect a program is written in."""

from __future__ import annotations

from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.mesh_op import MeshOp
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import nearest_symbol_table


def mesh_dialect_of(op: Op) -> Dialect:
    """The form of the dialect around an operation: that of the meshes there; of LLVM 19 without any."""
    table = nearest_symbol_table(op)
    while table is not None:
        for symbol in table.symbols():
            if isinstance(symbol, MeshOp):
                dialect: Dialect = symbol.dialect
                return dialect
        parent = table.parent_op
        table = None if parent is None else nearest_symbol_table(parent)
    return mesh
