"""Placements: which slice of an input or result each device has.

A placement is plain data, so that it can be sent to another process: the whole shape, the local shape and the
element type; for each sharded dimension, the index of the shard of each device; and for unreduced axes, the
groups of devices whose values are combined, and the reduction.
"""

from __future__ import annotations

from typing import Any

from sdyopt.analysis.execution.failure import NotValidated
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.types import DYNAMIC, ComplexType, FloatType, IntegerType, RankedTensor, Type
from sdyopt.shardy.partition.device_positions import replica_groups, shard_indices

_NUMBERS = (IntegerType, FloatType, ComplexType)


def check_is_array(type: Type) -> None:
    """Raises NotValidated for a value that is no array of numbers with a static shape."""
    if not isinstance(type, RankedTensor) or not isinstance(type.element, _NUMBERS) or DYNAMIC in type.shape:
        raise NotValidated(f"it takes or returns a value of type {plain_type(type)}")


def placement(
    type: Type, sharding: TensorSharding | None, mesh: Mesh | None, local: Type, devices: int
) -> dict[str, Any]:
    """The placement of a value of the global program, whose local type on every device is `local`."""
    assert isinstance(type, RankedTensor) and isinstance(local, RankedTensor)
    shards: list[list[int] | None] = [None] * len(type.shape)
    groups: list[list[int]] = []
    reduction = ReductionKind.SUM
    if sharding is not None and mesh is not None and mesh.axes:
        shards = [list(shard_indices(dim.axes, mesh)) if dim.axes else None for dim in sharding.dims]
        if sharding.unreduced_axes:
            groups, reduction = replica_groups(sharding.unreduced_axes, mesh), sharding.reduction
    if any(each is not None and len(each) != devices for each in shards):
        raise NotValidated("its meshes have different numbers of devices")
    return {
        "shape": list(type.shape),
        "local_shape": list(local.shape),
        "element": plain_type(type.element),
        "shards": shards,
        "groups": groups,
        "reduction": str(reduction),
    }
