"""The mesh dialect: sharding and communication on a grid of devices.

In the form of LLVM 19; `mesh_llvm21` is the form of LLVM 21.
"""

from sdyopt.dialects.mesh import (
    collectives,
    halo,
    mesh_op,
    mesh_queries,
    point_to_point,
    rooted_collectives,
    shard_op,
    sharding_op,
)
from sdyopt.dialects.mesh.dialect import mesh

DIALECT = mesh

__all__ = [
    "DIALECT",
    "collectives",
    "halo",
    "mesh_op",
    "mesh_queries",
    "point_to_point",
    "rooted_collectives",
    "shard_op",
    "sharding_op",
]
