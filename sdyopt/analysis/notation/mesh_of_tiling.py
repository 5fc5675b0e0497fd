"""Tilings as shardings of the sdy dialect: on a given mesh, or on one made for the tiling.

The position of a device in a tiling and its index in a mesh are both mixed-radix numbers. Where the digits of
one divide those of the other, each digit is an axis or a sub-axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.analysis.notation.device_order import Digit, digits_of, order_of_digits
from sdyopt.analysis.notation.device_tiling import (
    DeviceTiling,
    Maximal,
    Sharing,
    Tiling,
    Uniform,
    Unknown,
    split_digits,
)
from sdyopt.analysis.notation.sharding_on_mesh import ShardingOnMesh
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, sorted_and_merged, with_axes
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding

# The names that XLA gives to axes when it imports shardings of GSPMD.
AXIS_NAME = "_axis_{}"
# The largest number of devices that are enumerated.
MAX_LISTED = 1 << 20


class NotExpressible(Exception):
    """A notation cannot express a sharding, for the reason in the message."""


def sharding_on(tiling: Tiling, mesh: Mesh, mesh_or_ref: MeshOrRef, rank: int) -> ShardingOnMesh:
    """The sharding with this tiling on a given mesh. Raises NotExpressible."""
    if isinstance(tiling, Unknown):
        raise NotExpressible("an unknown sharding says nothing about devices")
    if isinstance(tiling, Maximal):
        raise NotExpressible("a single device is a mesh of its own")
    if mesh.is_maximal:
        raise NotExpressible("the mesh is a single device without axes")
    if isinstance(tiling, Uniform):
        return _uniform(tiling.sharing, mesh, mesh_or_ref, rank)
    if tiling.device_count != mesh.total_size:
        raise NotExpressible(f"it has {tiling.device_count} devices, the mesh has {mesh.total_size}")
    digits = split_digits(_digits_on(tiling, mesh), tiling.sizes)
    if digits is None:
        raise NotExpressible("its tiles are no axes or sub-axes of the mesh")
    axes = [_axes_of(part, mesh) for part in digits]
    return _sharding(tiling, axes, mesh, mesh_or_ref)


def sharding_on_new_mesh(tiling: Tiling, rank: int) -> ShardingOnMesh:
    """The sharding on a mesh with axes `_axis_0`, `_axis_1`, … made for it. Raises NotExpressible."""
    if isinstance(tiling, Maximal):
        mesh = Mesh((), (tiling.device,))
        return ShardingOnMesh(TensorSharding(mesh), mesh)
    if isinstance(tiling, Uniform) and tiling.sharing is Sharing.REPLICATED:
        mesh = Mesh()
        return ShardingOnMesh(TensorSharding(mesh, (DimensionSharding(),) * rank), mesh)
    if isinstance(tiling, Unknown):
        raise NotExpressible("an unknown sharding says nothing about devices")
    if isinstance(tiling, Uniform):
        raise NotExpressible("the number of devices is unknown; give the mesh with --mesh")
    mesh = _mesh_for(tiling)
    return sharding_on(tiling, mesh, mesh, rank)


# --- On a given mesh ------------------------------------------------------------------------------


def _uniform(sharing: Sharing, mesh: Mesh, mesh_or_ref: MeshOrRef, rank: int) -> ShardingOnMesh:
    """The sharding by which all devices of the mesh have the tensor, partial results or data of their own."""
    names = tuple([axis.name for axis in mesh.axes])
    unreduced = tuple(map(AxisRef, names)) if sharing is Sharing.UNREDUCED else ()
    sharding = TensorSharding(mesh_or_ref, (DimensionSharding(),) * rank, (), unreduced)
    return ShardingOnMesh(sharding, mesh, names if sharing is Sharing.MANUAL else ())


def _digits_on(tiling: DeviceTiling, mesh: Mesh) -> tuple[Digit, ...]:
    """The digits of a position of a tiling, with their strides in the index of the device in the mesh."""
    if tiling.order.is_iota and not mesh.device_ids:
        return tiling.order.digits
    if tiling.device_count > MAX_LISTED:
        raise NotExpressible(f"it has a list of more than {MAX_LISTED} devices")
    ids = mesh.device_ids or range(mesh.total_size)
    index_of = {device: index for index, device in enumerate(ids)}
    devices = [tiling.order.device_at(position) for position in range(tiling.device_count)]
    if not all(device in index_of for device in devices):
        raise NotExpressible("it has devices that the mesh does not have")
    indices = sorted_replicas(tiling, [index_of[device] for device in devices])
    digits = digits_of(indices)
    if digits is None or order_of_digits(digits) is None:
        raise NotExpressible("its order of devices is not one of reshaping and transposing the mesh")
    return tuple(digits)


def sorted_replicas(tiling: DeviceTiling, values: Sequence[int]) -> list[int]:
    """The values, one for each position, sorted along the last subgroup if that is replicated."""
    groups = tiling.subgroups
    size = groups[-1].size if groups and groups[-1].sharing is Sharing.REPLICATED else 1
    if size == 1:
        return list(values)
    return [value for start in range(0, len(values), size) for value in sorted(values[start : start + size])]


def _axes_of(digits: Sequence[Digit], mesh: Mesh) -> tuple[AxisRef, ...]:
    """The axes and sub-axes of the mesh that these digits are."""
    axes: tuple[AxisRef, ...] = ()
    for digit in digits:
        axes = with_axes(axes, _sub_axes(digit, mesh), mesh)
    return tuple([_whole_if_possible(axis, mesh) for axis in axes])


def _sub_axes(digit: Digit, mesh: Mesh) -> list[AxisRef]:
    """The sub-axes of a digit, major to minor: one for each axis that the digit overlaps."""
    found: list[AxisRef] = []
    size, stride = digit
    minor = prod([axis.size for axis in mesh.axes])
    bounds = [(axis, minor := minor // axis.size) for axis in mesh.axes]
    for axis, minor in reversed(bounds):
        if size == 1:
            break
        if not minor <= stride < minor * axis.size:
            continue
        room = axis.size * minor // stride
        part = min(size, room)
        if stride % minor or (axis.size * minor) % stride or room % part or size % part:
            raise NotExpressible("its tiles are no axes or sub-axes of the mesh")
        found.insert(0, AxisRef(axis.name, SubAxis(room // part, part)))
        size, stride = size // part, stride * part
    return found


def _whole_if_possible(axis: AxisRef, mesh: Mesh) -> AxisRef:
    return AxisRef(axis.name) if axis.size(mesh) == mesh.axis_size(axis.name) else axis


def _sharding(
    tiling: DeviceTiling, axes: Sequence[tuple[AxisRef, ...]], mesh: Mesh, mesh_or_ref: MeshOrRef
) -> ShardingOnMesh:
    rank = len(tiling.tiles)
    by_sharing: dict[Sharing, list[AxisRef]] = {sharing: [] for sharing in Sharing}
    for group, refs in zip(tiling.subgroups, axes[rank:], strict=True):
        by_sharing[group.sharing] += refs
    manual = by_sharing[Sharing.MANUAL]
    if any(axis.sub_axis is not None for axis in manual):
        raise NotExpressible("only a part of an axis is manual")
    unreduced = sorted_and_merged(by_sharing[Sharing.UNREDUCED], mesh)
    dims = tuple([DimensionSharding(refs) for refs in axes[:rank]])
    manual_names = {axis.name for axis in manual}
    return ShardingOnMesh(
        TensorSharding(mesh_or_ref, dims, (), tuple([_whole_if_possible(a, mesh) for a in unreduced])),
        mesh,
        tuple([axis.name for axis in mesh.axes if axis.name in manual_names]),
    )


# --- On a new mesh --------------------------------------------------------------------------------


def _mesh_for(tiling: DeviceTiling) -> Mesh:
    """A mesh on which the tiling has no sub-axes. It lists devices only if the tiling's order is no iota."""
    digits = _digits_of(tiling)
    parts = None if digits is None else split_digits(digits, tiling.sizes)
    if parts is None:
        return _listed_mesh(tiling)
    by_stride = sorted([digit for part in parts for digit in part], key=lambda digit: -digit.stride)
    return Mesh(_named_axes([digit.size for digit in by_stride]))


def _digits_of(tiling: DeviceTiling) -> tuple[Digit, ...] | None:
    """The digits of a position, with strides in the device id; None if the order is no transposed iota."""
    if tiling.order.is_iota:
        return tiling.order.digits
    digits = digits_of(sorted_replicas(tiling, tiling.order.ids))
    return None if digits is None or order_of_digits(digits) is None else tuple(digits)


def _listed_mesh(tiling: DeviceTiling) -> Mesh:
    """A mesh with an axis for each dimension and subgroup, and a list of devices."""
    if tiling.device_count > MAX_LISTED:
        raise NotExpressible(f"it needs a mesh that lists more than {MAX_LISTED} devices")
    ids = [tiling.order.device_at(position) for position in range(tiling.device_count)]
    if sorted(ids) != list(range(len(ids))):
        raise NotExpressible("a mesh has all device ids from 0 on")
    return Mesh(_named_axes([size for size in tiling.sizes if size > 1]), tuple(ids))


def _named_axes(sizes: Sequence[int]) -> tuple[MeshAxis, ...]:
    return tuple([MeshAxis(AXIS_NAME.format(index), size) for index, size in enumerate(sizes)])
