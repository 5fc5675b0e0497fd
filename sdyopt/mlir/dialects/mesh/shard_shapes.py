"""The local types of sharded tensors."""

from __future__ import annotations

from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp, check_axes, find_mesh
from sdyopt.mlir.dialects.mesh.sharding import MeshSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor


def mesh_of(op: Op, sharding: MeshSharding) -> MeshOp:
    """The mesh of a sharding; raises an error at `op` if the mesh is undefined or lacks an axis."""
    mesh_op = find_mesh(op, sharding.mesh.root)
    check_axes(op, mesh_op, sharding.all_axes)
    return mesh_op


def local_type(type: RankedTensor, sharding: MeshSharding, op: Op) -> RankedTensor:
    """The local type, halos included; raises an error at `op` if a dimension has no shards of equal size."""
    mesh_op = mesh_of(op, sharding)
    shape = list(type.shape)
    for dimension, size in enumerate(shape):
        count = mesh_op.group_size(sharding.axes_of(dimension))
        if count == 1 and not any(sharding.halo_of(dimension)):
            continue
        if DYNAMIC in (size, count):
            shape[dimension] = DYNAMIC
        elif count == 0 or size % count:
            raise op.error(
                f"dimension {dimension} of size {size} is not divisible by the shard count {count}"
            )
        else:
            shape[dimension] = size // count + sum(sharding.halo_of(dimension))
    return RankedTensor(tuple(shape), type.element, type.encoding)
