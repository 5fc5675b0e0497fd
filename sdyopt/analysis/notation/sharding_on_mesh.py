"""Shardings of the sdy dialect with their mesh, and their tilings.

The tiling of a sharding is the one to which XLA exports it for GSPMD: tiles in the order of dimensions, then
manual, unreduced and replicated subgroups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod

from sdyopt.analysis.notation.device_order import canonical_order, listed_order
from sdyopt.analysis.notation.device_tiling import (
    DeviceTiling,
    Maximal,
    Sharing,
    Subgroup,
    Tiling,
    Uniform,
)
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, axis_ref_text
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding


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


def tiling_of(subject: ShardingOnMesh) -> Tiling:
    """The tiling of a sharding. Raises IncompatibleSubAxes."""
    mesh, sharding = subject.mesh, subject.sharding
    if mesh.is_maximal:
        return Maximal(mesh.device_ids[0])
    if mesh.is_empty:
        return Uniform(Sharing.REPLICATED)
    manual = [AxisRef(axis.name) for axis in mesh.axes if axis.name in subject.manual_axes]
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
        Subgroup(sharing, _size(axes, mesh))
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
    return DeviceTiling(tuple([_size(axes, mesh) for axes in dims]), tuple(groups), order)


def _size(axes: Iterable[AxisRef], mesh: Mesh) -> int:
    return prod([axis.size(mesh) for axis in axes])


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
    found: dict[str, list[AxisRef]] = {}
    for ref in refs:
        found.setdefault(ref.name, []).append(ref)
    return found
