"""The mesh dialect: sharding and communication on a grid of devices."""

from sdyopt.dialects.mesh import collectives, mesh_op, moves, queries, shard_op
from sdyopt.dialects.mesh.dialect import mesh

DIALECT = mesh

__all__ = ["DIALECT", "collectives", "mesh_op", "moves", "queries", "shard_op"]
