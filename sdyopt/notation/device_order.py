"""Orders of devices: iota reshaped and transposed, or a list of device ids.

`<=[2,4]T(1,0)` numbers the devices 0 to 7, reshapes them to 2x4, transposes that to 4x2 and flattens it:
0, 4, 1, 5, 2, 6, 3, 7. Positions and devices are computed from each other, so an order of 2^20 devices is as
small as one of 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple


class Digit(NamedTuple):
    """A digit of a mixed-radix number: it counts to `size`, and each step adds `stride` to the number."""

    size: int
    stride: int


@dataclass(frozen=True)
class DeviceOrder:
    """The device at each position.

    Position p selects one of the indices 0, 1, …, reshaped to `dims` and transposed by `permutation`; `ids`
    has the device of each index. Without `ids` the device is the index.
    """

    dims: tuple[int, ...]
    permutation: tuple[int, ...]
    ids: tuple[int, ...] = ()

    @cached_property
    def size(self) -> int:
        """The number of devices."""
        return prod(self.dims)

    @cached_property
    def digits(self) -> tuple[Digit, ...]:
        """The digits of a position, major to minor, with the strides of the index that it selects."""
        strides = minor_sizes(self.dims)
        return tuple([Digit(self.dims[axis], strides[axis]) for axis in self.permutation])

    @property
    def is_iota(self) -> bool:
        """Whether the order is given by dimensions and a permutation alone."""
        return not self.ids

    def device_at(self, position: int) -> int:
        """The device at a position."""
        index = 0
        for digit in reversed(self.digits):
            position, step = divmod(position, digit.size)
            index += step * digit.stride
        return self.ids[index] if self.ids else index

    def position_of(self, device: int) -> int | None:
        """The position of a device; None if it is not in the order."""
        index = self._index_of_id.get(device) if self.ids else device
        if index is None or not 0 <= index < self.size:
            return None
        position = 0
        for digit in self.digits:
            position = position * digit.size + index // digit.stride % digit.size
        return position

    @cached_property
    def _index_of_id(self) -> dict[int, int]:
        return {device: index for index, device in enumerate(self.ids)}


def iota_order(
    dims: Sequence[int], permutation: Sequence[int] | None = None, ids: tuple[int, ...] = ()
) -> DeviceOrder:
    """An order in canonical form: no dimension has size 1, and no two that stay adjacent are apart."""
    order = [axis for axis in (permutation or range(len(dims))) if dims[axis] != 1]
    kept = sorted(order)
    runs: list[list[int]] = []
    for axis in (kept.index(axis) for axis in order):
        if runs and runs[-1][-1] + 1 == axis:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    starts = sorted(run[0] for run in runs)
    sizes = {run[0]: prod(dims[kept[axis]] for axis in run) for run in runs}
    if not runs:
        return DeviceOrder((1,), (0,), ids)
    return DeviceOrder(
        tuple([sizes[start] for start in starts]), tuple([starts.index(run[0]) for run in runs]), ids
    )


def listed_order(ids: Sequence[int]) -> DeviceOrder:
    """The order of a list of devices."""
    return DeviceOrder((len(ids),), (0,), tuple(ids))


def minor_sizes(sizes: Sequence[int]) -> list[int]:
    """For each size, the product of those after it: the strides of a row-major layout."""
    strides = [1] * len(sizes)
    for axis in range(len(sizes) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * sizes[axis]
    return strides


def order_of_digits(digits: Sequence[Digit]) -> DeviceOrder | None:
    """The iota order with these digits; None if they do not count each index once."""
    by_stride = sorted(range(len(digits)), key=lambda at: -digits[at].stride)
    if minor_sizes([digits[at].size for at in by_stride]) != [digits[at].stride for at in by_stride]:
        return None
    return iota_order(
        [digits[at].size for at in by_stride], [by_stride.index(at) for at in range(len(digits))]
    )


def digits_of(values: Sequence[int]) -> list[Digit] | None:
    """The digits, major to minor, that count these values; None if there are none.

    The longest arithmetic progression at the start is the minor-most digit. The starts of the runs of its
    length are counted by the other digits.
    """
    digits: list[Digit] = []
    rest = list(values)
    if not rest or rest[0] != 0:
        return None
    while len(rest) > 1:
        stride = rest[1]
        size = 2
        while size < len(rest) and rest[size] == size * stride:
            size += 1
        if stride < 1 or len(rest) % size:
            return None
        starts = rest[::size]
        if any(rest[i] != starts[i // size] + i % size * stride for i in range(len(rest))):
            return None
        digits.insert(0, Digit(size, stride))
        rest = starts
    return digits
