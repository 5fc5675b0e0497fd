"""The traffic of sdy's collectives: axes, group size, and bytes on the wire by the ring model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from sdyopt.analysis.figures.mesh_layout import moved_share
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, mesh_order
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ShardedToUnreducedOp,
)
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.shardy.partition.halo_exchange import Reads, plan_halo


class Traffic(NamedTuple):
    """The traffic of a collective: the axes along which devices form groups, the size of a group, and the
    bytes that one device sends as a multiple of its local operand and of its local result.

    `share_in` is None where the number of devices that send is unknown.
    """

    axes: tuple[AxisRef, ...]
    group_size: int
    share_in: Fraction | None
    share_out: Fraction = Fraction(0)


# (operation, sharding before, mesh before, mesh after) -> traffic
TrafficOf = Callable[[Any, TensorSharding, Mesh, Mesh], Traffic]


def ring(axes: Iterable[AxisRef], mesh: Mesh, rounds: int, of_result: bool = False) -> Traffic:
    """`rounds` trips around a ring of n devices, in each of which a device sends (n - 1) / n of a tensor.

    The tensor is the local operand or, if `of_result`, the local result.
    """
    axes = tuple(axes)
    size = prod(axis.size(mesh) for axis in axes)
    share = Fraction(rounds * (size - 1), size)
    return Traffic(axes, size, Fraction(0), share) if of_result else Traffic(axes, size, share)


def _local(axes: Iterable[AxisRef], mesh: Mesh) -> Traffic:
    """No communication: each device computes its result from its own operand."""
    axes = tuple(axes)
    return Traffic(axes, prod(axis.size(mesh) for axis in axes), Fraction(0))


def _permute(op: CollectivePermuteOp, before: TensorSharding, mesh: Mesh, after_mesh: Mesh) -> Traffic:
    after = op.out_sharding
    share = moved_share(before, mesh, after, after_mesh)
    changed = [
        axis
        for old, new in zip(before.dims, after.dims, strict=True)
        if old.axes != new.axes or mesh is not after_mesh
        for axis in (*old.axes, *new.axes)
    ]
    axes = tuple(AxisRef(axis.name) for axis in mesh.axes) if mesh is not after_mesh else tuple(changed)
    size = prod(axis.size(mesh) for axis in normalized_axes(axes, mesh))
    return Traffic(axes, size, None if share is None else Fraction(*share))


TRAFFIC: dict[type[CollectiveOp], TrafficOf] = {
    AllGatherOp: lambda op, _, mesh, __: ring(op.gathering_axes.axes, mesh, 1, of_result=True),
    AllReduceOp: lambda op, _, mesh, __: ring(op.reduction_axes, mesh, 2),
    AllSliceOp: lambda op, _, mesh, __: _local(op.slicing_axes.axes, mesh),
    AllToAllOp: lambda op, _, mesh, __: ring([a for move in op.params for a in move.axes], mesh, 1),
    CollectivePermuteOp: _permute,
    ReduceScatterOp: lambda op, _, mesh, __: ring(op.reduce_scatter_axes.axes, mesh, 1),
    ReplicatedToUnreducedOp: lambda op, _, mesh, __: _local(op.axes, mesh),
    ShardedToUnreducedOp: lambda op, _, mesh, __: _local(op.axes.axes, mesh),
}


def padded_size(size: int, shards: int) -> int:
    """The size of a dimension whose shards have equal sizes."""
    return -(-size // shards) * shards


def borders_differ(size: int, before: int, after: int) -> bool:
    """Whether a dimension has other borders between its shards after a collective, and is sharded both times.

    6 elements are 2+2+2+0 on four devices and 3+3 on two: no shard is made of shards of the other.
    """
    return before > 1 and after > 1 and padded_size(size, before) != padded_size(size, after)


def halo_elements(size: int, shards: int, padded: int) -> Fraction:
    """The elements that a device sends on average to give a dimension shards of `padded // shards` elements.

    The whole rest of the dimension if halos are not smaller.
    """
    if padded == padded_size(size, shards):
        return Fraction(0)
    new = padded // shards
    starts = [shard * new for shard in range(shards)]
    needed = [(start, min(start + new, size)) if start < size else None for start in starts]
    plan = plan_halo(Reads(padded_size(size, shards), starts, new, needed))
    if plan is None:
        return Fraction(padded_size(size, shards) * (shards - 1), shards)
    sent = sum((piece.end - piece.start) * len(piece.receivers) for piece in plan.pieces if piece.hop)
    return Fraction(sent, shards)


def normalized_axes(axes: Sequence[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """A set of axes in mesh order, with overlapping and adjacent sub-axes merged, as in totals by axes."""
    result: list[AxisRef] = []
    for axis in sorted(axes, key=lambda axis: mesh_order(axis, mesh)):
        last = result[-1] if result and result[-1].name == axis.name else None
        if last is None or last.next_pre_size(mesh) < axis.pre_size:
            result.append(axis)
        else:
            end = max(last.next_pre_size(mesh), axis.next_pre_size(mesh))
            result[-1] = sub_axis_between(axis.name, last.pre_size, end, mesh)
    return tuple(result)


def sub_axis_between(name: str, start: int, end: int, mesh: Mesh) -> AxisRef:
    """The sub-axis of pre-size `start` whose next pre-size is `end`; the axis itself if that is all of it."""
    is_whole = start == 1 and end == mesh.axis_size(name)
    return AxisRef(name) if is_whole else AxisRef(name, SubAxis(start, end // start))
