"""The dialects of a run, with the mesh dialect of LLVM 19 or 21."""

from __future__ import annotations

from sdyopt.mlir.ir.dialect import Dialect, DialectTable
from sdyopt.mlir.registry import all_dialects, find_dialect

# The releases of LLVM whose mesh dialects there are.
MESH_VERSIONS = (19, 21)


def dialect_table(mesh_version: int = 19) -> DialectTable:
    """All dialects, each loaded on first use. The mesh dialect is that of LLVM 19 or 21."""
    return DialectTable(find_dialect if mesh_version < 21 else _find_with_mesh_llvm21, all_dialects)


def _find_with_mesh_llvm21(namespace: str) -> Dialect | None:
    """The dialect of a namespace, with the mesh dialect of LLVM 21."""
    if namespace != "mesh":
        return find_dialect(namespace)
    from sdyopt.mlir.dialects.mesh.mesh_llvm21 import mesh21

    return mesh21
