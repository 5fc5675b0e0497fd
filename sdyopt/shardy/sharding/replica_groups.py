"""Replica groups given by the axes of an sdy mesh."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis, mesh
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef
from sdyopt.mlir.dialects.stablehlo import replica_groups as mesh_axes
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.builtin_attributes import dense
from sdyopt.mlir.ir.types import I64, tensor


def groups_by_axes(axes: Sequence[AxisRef], mesh_or_ref: MeshOrRef) -> mesh_axes.ReplicaGroupMeshAxes | None:
    """The groups of devices that differ along `axes` only; None if they cannot be given by axes.

    Before jaxlib 0.11.2, the axes of a named mesh are sdy attributes. All others are stablehlo attributes,
    which had to be full axes then.
    """
    refs: Sequence[Attribute]
    if isinstance(mesh_or_ref, Mesh) or Behavior.STABLEHLO_AXIS_REFS.active:
        if not Behavior.STABLEHLO_AXIS_REFS.active and any(axis.sub_axis is not None for axis in axes):
            return None
        refs = [_axis_ref(axis) for axis in axes]
    else:
        refs = axes
    group_mesh = stablehlo_mesh(mesh_or_ref) if isinstance(mesh_or_ref, Mesh) else mesh_or_ref
    return mesh_axes.ReplicaGroupMeshAxes(group_mesh, ArrayAttr(tuple(refs)))


def _axis_ref(axis: AxisRef) -> mesh_axes.AxisRef:
    """An axis or sub-axis as an attribute of the stablehlo dialect."""
    sub_axis = axis.sub_axis
    info = None if sub_axis is None else mesh_axes.SubAxisInfo(sub_axis.pre_size, sub_axis.size)
    return mesh_axes.AxisRef(axis.name, info)


def stablehlo_mesh(mesh: Mesh) -> mesh_axes.Mesh:
    """An sdy mesh as an attribute of the stablehlo dialect."""
    axes = tuple([mesh_axes.MeshAxis(axis.name, axis.size) for axis in mesh.axes])
    ids = mesh.device_ids
    return mesh_axes.Mesh(axes, dense(tensor((len(ids),), I64), pack(f"<{len(ids)}q", *ids)) if ids else None)


def sdy_mesh(groups: mesh_axes.Mesh) -> Mesh:
    """An attribute of the stablehlo dialect as an sdy mesh."""
    axes = [MeshAxis(axis.name, axis.size) for axis in groups.axes]
    return mesh(axes, () if groups.device_ids is None else integers_of(groups.device_ids))


def sdy_axis(axis: Attribute) -> AxisRef | None:
    """An axis of replica groups as an axis of shardings; None for any other attribute."""
    if not isinstance(axis, mesh_axes.AxisRef):
        return axis if isinstance(axis, AxisRef) else None
    part = axis.sub_axis_info
    return AxisRef(axis.name, None if part is None else SubAxis(part.pre_size, part.size))
