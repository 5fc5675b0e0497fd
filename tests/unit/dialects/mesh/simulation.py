"""Collectives on simulated devices: each device holds a numpy array, and the groups exchange them.

This says once more, in other words than the compiler's, what the operations mean. It is what resharding
is checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.mesh import device_groups
from sdyopt.dialects.mesh.collective_base import Collective
from sdyopt.dialects.mesh.device_groups import Device
from sdyopt.dialects.mesh.reduction import ReductionKind
from sdyopt.ir.operation import Op
from tests.simulation import programs

Array = NDArray[Any]
Arrays = dict[Device, Array]
Shape = tuple[int, ...]

COMBINE: dict[ReductionKind, Callable[[Array, Array], Array]] = {
    ReductionKind.SUM: np.add,
    ReductionKind.MAX: np.maximum,
    ReductionKind.MIN: np.minimum,
    ReductionKind.PRODUCT: np.multiply,
    ReductionKind.BITWISE_AND: np.bitwise_and,
    ReductionKind.BITWISE_OR: np.bitwise_or,
    ReductionKind.BITWISE_XOR: np.bitwise_xor,
}


class Group:
    """The devices of one group in order, what each holds, and the place of one of them."""

    def __init__(self, op: Collective, shape: Shape, values: Arrays, device: Device) -> None:
        self.op: Any = op
        self.shape = shape
        self.device = device
        self.axes = op.mesh_axes
        self.devices = device_groups.devices_in_same_group(shape, device, self.axes)
        self.arrays = [values[member] for member in self.devices]
        self.own = values[device]
        self.place = device_groups.position_in_group(shape, device, self.axes)

    def parts(self, array: Array, axis: int) -> list[Array]:
        return np.split(array, len(self.devices), axis)

    def member(self, index: Shape) -> Device:
        return device_groups.device_in_group(self.axes, device_groups.group_of(self.device, self.axes), index)

    def of_member(self, index: Shape) -> Array:
        return self.arrays[self.devices.index(self.member(index))]

    def combined(self) -> Array:
        kind = self.op.reduction
        if kind is ReductionKind.AVERAGE:
            return reduce(np.add, self.arrays) / len(self.arrays)
        return reduce(COMBINE[kind], self.arrays)


def _all_gather(group: Group) -> Array:
    return np.concatenate(group.arrays, group.op.gather_axis)


def _all_reduce(group: Group) -> Array:
    return group.combined()


def _all_slice(group: Group) -> Array:
    return group.parts(group.own, group.op.slice_axis)[group.place]


def _all_to_all(group: Group) -> Array:
    parts = [group.parts(array, group.op.split_axis)[group.place] for array in group.arrays]
    return np.concatenate(parts, group.op.concat_axis)


def _broadcast(group: Group) -> Array:
    return group.of_member(group.op.root)


def _gather(group: Group) -> Array:
    return _on_root(group, np.concatenate(group.arrays, group.op.gather_axis))


def _reduce(group: Group) -> Array:
    return _on_root(group, group.combined())


def _on_root(group: Group, array: Array) -> Array:
    """The array on the root, and something of its shape elsewhere."""
    return array if group.member(group.op.root) == group.device else np.zeros_like(array)


def _reduce_scatter(group: Group) -> Array:
    return group.parts(group.combined(), group.op.scatter_axis)[group.place]


def _scatter(group: Group) -> Array:
    return group.parts(group.of_member(group.op.root), group.op.scatter_axis)[group.place]


def _send(group: Group) -> Array:
    return group.own


def _recv(group: Group) -> Array:
    return group.own if group.op.source is None else group.of_member(group.op.source)


def _shift(group: Group) -> Array:
    axis = group.op.shift_axis
    index = list(device_groups.index_in_group(group.device, group.axes))
    place = group.axes.index(axis)
    index[place] -= group.op.offset
    if group.op.rotate:
        index[place] %= group.shape[axis]
    if not 0 <= index[place] < group.shape[axis]:
        return np.zeros_like(group.own)
    return group.of_member(tuple(index))


MEANING: Mapping[str, Callable[[Group], Array]] = {
    "mesh.all_gather": _all_gather,
    "mesh.all_reduce": _all_reduce,
    "mesh.all_slice": _all_slice,
    "mesh.all_to_all": _all_to_all,
    "mesh.broadcast": _broadcast,
    "mesh.gather": _gather,
    "mesh.recv": _recv,
    "mesh.reduce": _reduce,
    "mesh.reduce_scatter": _reduce_scatter,
    "mesh.scatter": _scatter,
    "mesh.send": _send,
    "mesh.shift": _shift,
}
PASS_THROUGH = ("tensor.cast", "mesh.shard")


def run(function: FuncOp, shape: Shape, arguments: list[Arrays]) -> list[Arrays]:
    """What a function of collectives returns on every device of a mesh of this shape."""
    return programs.run(function, arguments, lambda op, values: _execute(op, shape, values))


def _execute(op: Op, shape: Shape, values: Arrays) -> Arrays:
    if op.signature.name in PASS_THROUGH:
        return values
    assert isinstance(op, Collective)
    meaning = MEANING[op.signature.name]
    made = {device: meaning(Group(op, shape, values, device)) for device in device_groups.devices(shape)}
    for array in made.values():
        # Every result has the shape that its type says.
        assert array.shape == op.results[0].type.shape  # type: ignore[attr-defined]
    return made
