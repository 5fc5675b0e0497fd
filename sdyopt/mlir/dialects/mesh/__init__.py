"""The mesh dialect of LLVM 19: sharding and communication on a mesh of devices.

The versions of LLVM 21 and 22 are in `mesh_llvm21`.
"""

from sdyopt.mlir.dialects.mesh import (
    collectives,
    halo,
    mesh_op,
    rooted_collectives,
    shard_op,
)
from sdyopt.mlir.dialects.mesh.attributes import mesh

DIALECT = mesh

__all__ = [
    "DIALECT",
    "collectives",
    "halo",
    "mesh_op",
    "rooted_collectives",
    "shard_op",
]
