"""The version of the mesh dialect that a program uses: LLVM 19 or LLVM 21."""

from __future__ import annotations

from typing import TypeVar

from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import nearest_symbol_table

OpT = TypeVar("OpT", bound=Op)


def mesh_dialect_of(op: Op) -> Dialect:
    """The dialect of the first `mesh` operation in the enclosing symbol tables, innermost first.

    If there is no such operation, the LLVM 19 dialect.
    """
    table = nearest_symbol_table(op)
    while table is not None:
        for symbol in table.symbols():
            if isinstance(symbol, MeshOp):
                dialect: Dialect = symbol.dialect
                return dialect
        parent = table.parent_op
        table = None if parent is None else nearest_symbol_table(parent)
    return mesh


def op_class_in(dialect: Dialect, base: type[OpT]) -> type[OpT]:
    """The subclass of `base` that a version of the dialect registers."""
    return next(op_class for op_class in dialect.ops.values() if issubclass(op_class, base))
