"""The devices of a mesh: where each stands along some axes, and in which groups axes put them.

In the row-major order of a mesh the place of a device is a number, whose digits are its coordinates. A
sub-axis is a digit too, if the digits are chosen fine enough: with axes "x"=2 and "y"=8, place 13 has x=1
and y=5; "y":(1)2 is the digit of step 4 and size 2, which is 1, and "y":(2)4 that of step 1 and size 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Digit:
    step: int
    size: int


class Devices:
    """The devices of a mesh. What is said of all of them is an array by the number of the device."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.count = mesh.total_size
        # The device at each place, and the place of each device.
        self._ids = np.array(mesh.device_ids or range(self.count), dtype=np.int64)
        self._places = np.argsort(self._ids)

    def size(self, axes: Iterable[AxisRef]) -> int:
        """How many devices lie along axes."""
        return prod(self._digit(axis).size for axis in axes)

    def positions(self, axes: Iterable[AxisRef]) -> Numbers:
        """Where each device stands along axes, the first of them the major one."""
        found = np.zeros(self.count, dtype=np.int64)
        for digit in map(self._digit, axes):
            found = found * digit.size + self._places // digit.step % digit.size
        return found

    def groups(self, axes: Iterable[AxisRef]) -> Numbers:
        """A row for each group of devices that differ along axes only, ordered by where they stand there."""
        places, offsets = np.arange(self.count), np.zeros(1, dtype=np.int64)
        for digit in map(self._digit, axes):
            places = places[places // digit.step % digit.size == 0]
            steps = np.arange(digit.size) * digit.step
            offsets = (offsets[:, None] + steps[None, :]).ravel()
        found: Numbers = self._ids[places[:, None] + offsets[None, :]]
        return found

    def _digit(self, axis: AxisRef) -> _Digit:
        index = [known.name for known in self.mesh.axes].index(axis.name)
        behind = prod(known.size for known in self.mesh.axes[index + 1 :])
        full = self.mesh.axes[index].size
        if axis.sub_axis is None:
            return _Digit(behind, full)
        before, size = axis.sub_axis.pre_size, axis.sub_axis.size
        assert full % (before * size) == 0
        return _Digit(behind * (full // (before * size)), size)
