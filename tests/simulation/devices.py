"""The devices of a mesh: their coordinates along axes, and their groups.

The position of a device in the row-major order of a mesh is a number whose digits are its coordinates. A
sub-axis is a digit as well, of a finer division: with axes "x"=2 and "y"=8, position 13 has x=1 and y=5;
"y":(1)2 is the digit of stride 4 and size 2, which is 1, and "y":(2)4 the digit of stride 1 and size 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Digit:
    stride: int
    size: int


class Devices:
    """The devices of a mesh. Arrays are indexed by device id, or have one element for a maximal mesh."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.count = mesh.total_size
        # The device at each position, and the position of each device.
        ids = () if mesh.is_maximal else mesh.device_ids
        self._ids = np.array(ids or range(self.count), dtype=np.int64)
        self._positions = np.argsort(self._ids)

    def size(self, axes: Iterable[AxisRef]) -> int:
        """The product of the sizes of axes."""
        return prod(self._digit(axis).size for axis in axes)

    def positions(self, axes: Iterable[AxisRef]) -> Numbers:
        """The coordinate of each device along axes, the first of which is the major one."""
        coordinates = np.zeros(self.count, dtype=np.int64)
        for digit in map(self._digit, axes):
            coordinates = coordinates * digit.size + self._positions // digit.stride % digit.size
        return coordinates

    def groups(self, axes: Iterable[AxisRef]) -> Numbers:
        """A row for each group of devices that differ along axes only, in order of their coordinate there."""
        positions, offsets = np.arange(self.count), np.zeros(1, dtype=np.int64)
        for digit in map(self._digit, axes):
            positions = positions[positions // digit.stride % digit.size == 0]
            steps = np.arange(digit.size) * digit.stride
            offsets = (offsets[:, None] + steps[None, :]).ravel()
        groups: Numbers = self._ids[positions[:, None] + offsets[None, :]]
        return groups

    def _digit(self, axis: AxisRef) -> _Digit:
        index = [mesh_axis.name for mesh_axis in self.mesh.axes].index(axis.name)
        minor_size = prod(mesh_axis.size for mesh_axis in self.mesh.axes[index + 1 :])
        axis_size = self.mesh.axes[index].size
        if axis.sub_axis is None:
            return _Digit(minor_size, axis_size)
        before, size = axis.sub_axis.pre_size, axis.sub_axis.size
        assert axis_size % (before * size) == 0
        return _Digit(minor_size * (axis_size // (before * size)), size)
