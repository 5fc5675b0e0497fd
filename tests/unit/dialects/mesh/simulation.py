"""Simulates the collectives of the mesh dialect, in which the devices of a group exchange numpy arrays.

The results are defined independently of the passes that insert collectives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docs import device_groups
from docs.device_groups import Device
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind
from sdyopt.mlir.dialects.mesh.collectives import (
    AllGatherOp,
    AllReduce19Op,
    AllSliceOp,
    AllToAllOp,
    MeshCollective,
    ReduceScatter19Op,
)
from sdyopt.mlir.dialects.mesh.rooted_collectives import (
    BroadcastOp,
    GatherOp,
    RecvOp,
    Reduce19Op,
    ScatterOp,
    SendOp,
    ShiftOp,
)
from sdyopt.mlir.dialects.mesh.shard_op import ShardOp
from sdyopt.mlir.dialects.tensor.values import CastOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from tests.simulation import programs

Array = NDArray[Any]
Arrays = dict[Device, Array]
Shape = tuple[int, ...]

REDUCTIONS: dict[ReductionKind, Callable[[Array, Array], Array]] = {
    ReductionKind.SUM: np.add,
    ReductionKind.MAX: np.maximum,
    ReductionKind.MIN: np.minimum,
    ReductionKind.PRODUCT: np.multiply,
    ReductionKind.BITWISE_AND: np.bitwise_and,
    ReductionKind.BITWISE_OR: np.bitwise_or,
    ReductionKind.BITWISE_XOR: np.bitwise_xor,
}


class Group:
    """A device, the devices of its group in order, and their arrays."""

    def __init__(self, axes: Shape, shape: Shape, values: Arrays, device: Device) -> None:
        self.shape = shape
        self.device = device
        self.axes = axes
        self.devices = device_groups.devices_in_same_group(shape, device, axes)
        self.arrays = [values[member] for member in self.devices]
        self.array = values[device]
        self.position = device_groups.linear_index_in_group(shape, device, axes)

    def slice(self, array: Array, axis: int) -> Array:
        """The slice of an array that belongs to the device."""
        return np.split(array, len(self.devices), axis)[self.position]

    def member(self, index: Shape) -> Device:
        """The device with an in-group index."""
        return device_groups.device_in_group(self.axes, device_groups.group_of(self.device, self.axes), index)

    def array_of(self, index: Shape) -> Array:
        return self.arrays[self.devices.index(self.member(index))]

    def reduced(self, kind: ReductionKind) -> Array:
        if kind is ReductionKind.AVERAGE:
            return reduce(np.add, self.arrays) / len(self.arrays)
        return reduce(REDUCTIONS[kind], self.arrays)

    def on_root(self, root: Shape, array: Array) -> Array:
        """The array on the root, and zeros on the other devices."""
        return array if self.member(root) == self.device else np.zeros_like(array)


def _all_gather(op: AllGatherOp, group: Group) -> Array:
    return np.concatenate(group.arrays, op.gather_axis)


def _all_reduce(op: AllReduce19Op, group: Group) -> Array:
    return group.reduced(op.reduction)


def _all_slice(op: AllSliceOp, group: Group) -> Array:
    return group.slice(group.array, op.slice_axis)


def _all_to_all(op: AllToAllOp, group: Group) -> Array:
    return np.concatenate([group.slice(array, op.split_axis) for array in group.arrays], op.concat_axis)


def _broadcast(op: BroadcastOp, group: Group) -> Array:
    return group.array_of(op.root)


def _gather(op: GatherOp, group: Group) -> Array:
    return group.on_root(op.root, np.concatenate(group.arrays, op.gather_axis))


def _recv(op: RecvOp, group: Group) -> Array:
    return group.array if op.source is None else group.array_of(op.source)


def _reduce(op: Reduce19Op, group: Group) -> Array:
    return group.on_root(op.root, group.reduced(op.reduction))


def _reduce_scatter(op: ReduceScatter19Op, group: Group) -> Array:
    return group.slice(group.reduced(op.reduction), op.scatter_axis)


def _scatter(op: ScatterOp, group: Group) -> Array:
    return group.slice(group.array_of(op.root), op.scatter_axis)


def _send(op: SendOp, group: Group) -> Array:
    return group.array


def _shift(op: ShiftOp, group: Group) -> Array:
    axis, index = op.shift_axis, list(device_groups.index_in_group(group.device, group.axes))
    position = group.axes.index(axis)
    index[position] -= op.offset
    if op.rotate:
        index[position] %= group.shape[axis]
    if not 0 <= index[position] < group.shape[axis]:
        return np.zeros_like(group.array)
    return group.array_of(tuple(index))


# By class: (operation of the class, group of a device) -> result on the device.
SEMANTICS: Mapping[type[Op], Callable[[Any, Group], Array]] = {
    AllGatherOp: _all_gather,
    AllReduce19Op: _all_reduce,
    AllSliceOp: _all_slice,
    AllToAllOp: _all_to_all,
    BroadcastOp: _broadcast,
    GatherOp: _gather,
    RecvOp: _recv,
    Reduce19Op: _reduce,
    ReduceScatter19Op: _reduce_scatter,
    ScatterOp: _scatter,
    SendOp: _send,
    ShiftOp: _shift,
}


def run(function: FuncOp, shape: Shape, arguments: list[Arrays]) -> list[Arrays]:
    """The results of a function of collectives on the devices of a mesh of this shape."""
    return programs.run(function, arguments, lambda op, values: _execute(op, shape, values))


def _execute(op: Op, shape: Shape, values: Arrays) -> Arrays:
    if isinstance(op, CastOp | ShardOp):
        return values
    assert isinstance(op, MeshCollective)
    execute = SEMANTICS[type(op)]
    devices = device_groups.multi_indices(shape)
    results = {device: execute(op, Group(op.mesh_axes, shape, values, device)) for device in devices}
    type_ = op.results[0].type
    assert isinstance(type_, RankedTensor)
    assert all(array.shape == type_.shape for array in results.values())
    return results
