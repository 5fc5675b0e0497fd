"""Shardings of the sdy dialect with their mesh, and their tilings.

The tiling of a sharding is the one to which XLA exports it for GSPMD: tiles in the order of dimensions, then
manual, unreduced and replicated subgroups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, axis_ref_text, sorted_and_merged, with_axes
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.shardy.notation.device_tiling import (
    DeviceTiling,
    Digit,
    Maximal,
    Sharing,
    Subgroup,
    Tiling,
    Uniform,
    Unknown,
    canonical_order,
    digits_of,
    listed_order,
    order_of_digits,
    split_digits,
)
from sdyopt.shardy.sharding.axis_lists import sharded_size


@dataclass(frozen=True)
class ShardingOnMesh:
    """A sharding, its mesh, and the manual axes of the computation that it is in."""

    sharding: TensorSharding
    mesh: Mesh
    manual_axes: tuple[str, ...] = ()


class IncompatibleSubAxes(Exception):
    """No division of an axis into smaller sub-axes contains the boundaries of both of these sub-axes."""

    def __init__(self, first: AxisRef, second: AxisRef) -> None:
        super().__init__(f"no sub-axes make up both {axis_ref_text(first)} and {axis_ref_text(second)}")
        self.first = first
        self.second = second


def tiling_of(on_mesh: ShardingOnMesh) -> Tiling:
    """The tiling of a sharding. Raises IncompatibleSubAxes."""
    mesh, sharding = on_mesh.mesh, on_mesh.sharding
    if mesh.is_maximal:
        return Maximal(mesh.device_ids[0])
    if mesh.is_empty:
        return Uniform(Sharing.REPLICATED)
    manual = [AxisRef(axis.name) for axis in mesh.axes if axis.name in on_mesh.manual_axes]
    dims = [dim.axes for dim in sharding.dims]
    pieces = _pieces(mesh, [*manual, *sharding.unreduced_axes, *(axis for axes in dims for axis in axes)])
    pieces_by_name = _by_name(pieces)
    listed = [
        piece
        for axes in (*dims, manual, sharding.unreduced_axes)
        for axis in axes
        for piece in pieces_by_name[axis.name]
        if axis.contains(piece)
    ]
    is_listed = set(listed)
    rest = [piece for piece in pieces if piece not in is_listed]
    groups = [
        Subgroup(sharing, sharded_size(axes, mesh))
        for sharing, axes in (
            (Sharing.MANUAL, manual),
            (Sharing.UNREDUCED, sharding.unreduced_axes),
            (Sharing.REPLICATED, rest),
        )
        if axes
    ]
    position = {piece: index for index, piece in enumerate(pieces)}
    order = canonical_order(
        [piece.size(mesh) for piece in pieces],
        [position[piece] for piece in (*listed, *rest)],
        mesh.device_ids,
    )
    if mesh.device_ids:
        order = listed_order([order.device_at(at) for at in range(order.size)])
    return DeviceTiling(tuple([sharded_size(axes, mesh) for axes in dims]), tuple(groups), order)


def _pieces(mesh: Mesh, used: Sequence[AxisRef]) -> list[AxisRef]:
    """Sub-axes that cover the mesh in its order, such that each used axis consists of some of them."""
    pieces: list[AxisRef] = []
    used_by_name = _by_name(used)
    for axis in mesh.axes:
        refs = sorted(used_by_name.get(axis.name, ()), key=lambda ref: ref.sort_key)
        bounds = {1: refs[0] if refs else AxisRef(axis.name), axis.size: AxisRef(axis.name)}
        for ref in refs:
            bounds |= {ref.pre_size: ref, ref.next_pre_size(mesh): ref}
        points = sorted(bounds)
        if len(points) == 1:
            pieces.append(AxisRef(axis.name))
        for start, end in pairwise(points):
            if end % start:
                raise IncompatibleSubAxes(bounds[start], bounds[end])
            is_whole = (start, end) == (1, axis.size)
            pieces.append(AxisRef(axis.name, None if is_whole else SubAxis(start, end // start)))
    return pieces


def _by_name(refs: Iterable[AxisRef]) -> dict[str, list[AxisRef]]:
    by_tensor: dict[str, list[AxisRef]] = {}
    for ref in refs:
        by_tensor.setdefault(ref.name, []).append(ref)
    return by_tensor


# Tilings as shardings of the sdy dialect: on a given mesh, or on one made for the tiling.
#
# The position of a device in a tiling and its index in a mesh are both mixed-radix numbers. Where the digits
# of one divide those of the other, each digit is an axis or a sub-axis.


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
        # The sharding by which all devices of the mesh have the tensor, partial results or data of their own.
        names = tuple([axis.name for axis in mesh.axes])
        unreduced = tuple(map(AxisRef, names)) if tiling.sharing is Sharing.UNREDUCED else ()
        sharding = TensorSharding(mesh_or_ref, (DimensionSharding(),) * rank, (), unreduced)
        return ShardingOnMesh(sharding, mesh, names if tiling.sharing is Sharing.MANUAL else ())
    if tiling.device_count != mesh.total_size:
        raise NotExpressible(f"it has {tiling.device_count} devices, the mesh has {mesh.total_size}")
    on_mesh = _TilingOnMesh(tiling, mesh)
    digits = split_digits(on_mesh.digits_on(), tiling.sizes)
    if digits is None:
        raise NotExpressible("its tiles are no axes or sub-axes of the mesh")
    axes = [on_mesh.axes_of(part) for part in digits]
    return on_mesh.sharding(axes, mesh_or_ref)


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


@dataclass(frozen=True)
class _TilingOnMesh:
    """A tiling whose shards are those of axes of a mesh."""

    tiling: DeviceTiling
    mesh: Mesh

    def digits_on(self) -> tuple[Digit, ...]:
        """The digits of a position of a tiling, with their strides in the index of the device in the mesh."""
        if self.tiling.order.is_iota and not self.mesh.device_ids:
            return self.tiling.order.digits
        if self.tiling.device_count > MAX_LISTED:
            raise NotExpressible(f"it has a list of more than {MAX_LISTED} devices")
        ids = self.mesh.device_ids or range(self.mesh.total_size)
        index_of = {device: index for index, device in enumerate(ids)}
        devices = [self.tiling.order.device_at(position) for position in range(self.tiling.device_count)]
        if not all(device in index_of for device in devices):
            raise NotExpressible("it has devices that the mesh does not have")
        indices = sorted_replicas(self.tiling, [index_of[device] for device in devices])
        digits = digits_of(indices)
        if digits is None or order_of_digits(digits) is None:
            raise NotExpressible("its order of devices is not one of reshaping and transposing the mesh")
        return tuple(digits)

    def axes_of(self, digits: Sequence[Digit]) -> tuple[AxisRef, ...]:
        """The axes and sub-axes of the mesh that these digits are."""
        axes: tuple[AxisRef, ...] = ()
        for digit in digits:
            axes = with_axes(axes, self._sub_axes(digit), self.mesh)
        return tuple([self._whole_if_possible(axis) for axis in axes])

    def _sub_axes(self, digit: Digit) -> list[AxisRef]:
        """The sub-axes of a digit, major to minor: one for each axis that the digit overlaps."""
        refs: list[AxisRef] = []
        size, stride = digit
        minor = prod([axis.size for axis in self.mesh.axes])
        bounds = [(axis, minor := minor // axis.size) for axis in self.mesh.axes]
        for axis, minor in reversed(bounds):
            if size == 1:
                break
            if not minor <= stride < minor * axis.size:
                continue
            room = axis.size * minor // stride
            part = min(size, room)
            if stride % minor or (axis.size * minor) % stride or room % part or size % part:
                raise NotExpressible("its tiles are no axes or sub-axes of the mesh")
            refs.insert(0, AxisRef(axis.name, SubAxis(room // part, part)))
            size, stride = size // part, stride * part
        return refs

    def _whole_if_possible(self, axis: AxisRef) -> AxisRef:
        return AxisRef(axis.name) if axis.size(self.mesh) == self.mesh.axis_size(axis.name) else axis

    def sharding(self, axes: Sequence[tuple[AxisRef, ...]], mesh_or_ref: MeshOrRef) -> ShardingOnMesh:
        rank = len(self.tiling.tiles)
        by_sharing: dict[Sharing, list[AxisRef]] = {sharing: [] for sharing in Sharing}
        for group, refs in zip(self.tiling.subgroups, axes[rank:], strict=True):
            by_sharing[group.sharing] += refs
        manual = by_sharing[Sharing.MANUAL]
        if any(axis.sub_axis is not None for axis in manual):
            raise NotExpressible("only a part of an axis is manual")
        unreduced = sorted_and_merged(by_sharing[Sharing.UNREDUCED], self.mesh)
        dims = tuple([DimensionSharding(refs) for refs in axes[:rank]])
        manual_names = {axis.name for axis in manual}
        return ShardingOnMesh(
            TensorSharding(mesh_or_ref, dims, (), tuple([self._whole_if_possible(a) for a in unreduced])),
            self.mesh,
            tuple([axis.name for axis in self.mesh.axes if axis.name in manual_names]),
        )


def sorted_replicas(tiling: DeviceTiling, values: Sequence[int]) -> list[int]:
    """The values, one for each position, sorted along the last subgroup if that is replicated."""
    groups = tiling.subgroups
    size = groups[-1].size if groups and groups[-1].sharing is Sharing.REPLICATED else 1
    if size == 1:
        return list(values)
    return [value for start in range(0, len(values), size) for value in sorted(values[start : start + size])]


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
