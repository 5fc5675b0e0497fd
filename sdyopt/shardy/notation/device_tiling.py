"""Tilings: how many shards each dimension has, and which devices have each shard.

A tiling lists devices in the order of shards, row-major. The devices of one shard are a group, whose
dimensions are called subgroups: along a replicated one, devices have the same data; along an unreduced one,
partial results; along a manual one, data of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from math import prod

from sdyopt.base.dataclasses import NamedTuple, dataclass


class Sharing(StrEnum):
    """The relation of the devices along a subgroup that share a shard."""

    REPLICATED = "replicated"
    UNREDUCED = "unreduced"
    MANUAL = "manual"


class Subgroup(NamedTuple):
    """A dimension of the group of devices that have one shard."""

    sharing: Sharing
    size: int


# --- Tilings --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeviceTiling:
    """`tiles` has the number of shards of each dimension. `order` is row-major over tiles, then subgroups."""

    tiles: tuple[int, ...]
    subgroups: tuple[Subgroup, ...]
    order: DeviceOrder

    @cached_property
    def shard_count(self) -> int:
        return prod(self.tiles)

    @cached_property
    def group_size(self) -> int:
        """The number of devices that have one shard."""
        return prod([group.size for group in self.subgroups])

    @property
    def device_count(self) -> int:
        return self.shard_count * self.group_size

    def devices_of(self, shard: int) -> Iterator[int]:
        """The devices of a shard, row-major over the subgroups."""
        start = shard * self.group_size
        return map(self.order.device_at, range(start, start + self.group_size))

    def shard_of(self, device: int) -> int | None:
        """The shard of a device; None if the device has none."""
        position = self.order.position_of(device)
        return None if position is None else position // self.group_size

    def tile_of(self, shard: int) -> tuple[int, ...]:
        """The index of a shard in each dimension."""
        index = []
        for size in reversed(self.tiles):
            shard, at = divmod(shard, size)
            index.append(at)
        return tuple(reversed(index))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the dimensions, then of the subgroups."""
        return (*self.tiles, *[group.size for group in self.subgroups])


@dataclass(frozen=True)
class Uniform:
    """All devices, however many, share the whole tensor."""

    sharing: Sharing


@dataclass(frozen=True)
class Maximal:
    """One device has the whole tensor."""

    device: int


@dataclass(frozen=True)
class Unknown:
    """GSPMD's `{unknown}`, which does not determine the devices."""


Tiling = DeviceTiling | Uniform | Maximal | Unknown


def uniform_tiling(sharing: Sharing, device_count: int, rank: int, ids: tuple[int, ...] = ()) -> DeviceTiling:
    """The tiling by which this many devices, in the order of `ids` or of iota, share the whole tensor."""
    order = canonical_order([device_count], None, ids)
    return DeviceTiling((1,) * rank, (Subgroup(sharing, device_count),), order)


def simplified(tiling: DeviceTiling) -> DeviceTiling | Uniform:
    """The tiling as in XLA: without subgroups of size 1, and uniform if one subgroup has all devices."""
    groups = tuple([group for group in tiling.subgroups if group.size > 1])
    if tiling.shard_count == 1 and len(groups) < 2:
        sharing = (groups or tiling.subgroups or (Subgroup(Sharing.REPLICATED, 1),))[0].sharing
        return Uniform(sharing)
    return DeviceTiling(tiling.tiles, groups, tiling.order)


# --- Slices ---------------------------------------------------------------------------------------


class Slice(NamedTuple):
    """The elements of a dimension from `start` to before `stop`; empty if both are equal."""

    start: int
    stop: int


def slice_of(size: int, tiles: int, index: int) -> Slice:
    """The slice of shard `index` of a dimension with `tiles` shards.

    The size of a shard is rounded up, so the last shards may be shorter or empty.
    """
    shard = -(-size // tiles)
    return Slice(min(index * shard, size), min((index + 1) * shard, size))


def split_digits(digits: tuple[Digit, ...], sizes: tuple[int, ...]) -> list[list[Digit]] | None:
    """Divides the digits of a position among dimensions of these sizes, splitting digits where needed.

    None if neither of the sizes of a digit and of the rest of a dimension divides the other.
    """
    pending = list(digits)
    parts: list[list[Digit]] = []
    for size in reversed(sizes):
        part: list[Digit] = []
        while size > 1:
            digit = pending.pop()
            if digit.size <= size and size % digit.size == 0:
                part.insert(0, digit)
                size //= digit.size
            elif digit.size > size and digit.size % size == 0:
                part.insert(0, Digit(size, digit.stride))
                pending.append(Digit(digit.size // size, digit.stride * size))
                size = 1
            else:
                return None
        parts.insert(0, part)
    return parts


# Orders of devices: iota reshaped and transposed, or a list of device ids.
#
# `<=[2,4]T(1,0)` numbers the devices 0 to 7, reshapes them to 2x4, transposes that to 4x2 and flattens it: 0,
# 4, 1, 5, 2, 6, 3, 7. Without a list, positions and devices are computed from each other, so an order of 2^20
# devices needs no more memory than one of 8.


class Digit(NamedTuple):
    """A digit of a position, from 0 to `size` - 1; each unit adds `stride` to the index at the position."""

    size: int
    stride: int


@dataclass(frozen=True)
class DeviceOrder:
    """The device at each position.

    The indices 0, 1, … are reshaped to `dims`, transposed by `permutation` and flattened, which gives the
    index at each position. `ids` has the device of each index; without `ids`, the index is the device.
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
        """The digits of a position, major to minor, with their strides in the index at the position."""
        strides = row_major_strides(self.dims)
        return tuple([Digit(self.dims[dim], strides[dim]) for dim in self.permutation])

    @property
    def is_iota(self) -> bool:
        """Whether `dims` and `permutation` alone determine the order."""
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


def canonical_order(
    dims: Sequence[int], permutation: Sequence[int] | None = None, ids: tuple[int, ...] = ()
) -> DeviceOrder:
    """An order in canonical form: without dimensions of size 1, and with those that stay adjacent merged.

    The order of one device has one dimension.
    """
    order = [dim for dim in (permutation or range(len(dims))) if dims[dim] != 1]
    kept = sorted(order)
    runs: list[list[int]] = []
    for dim in (kept.index(dim) for dim in order):
        if runs and runs[-1][-1] + 1 == dim:
            runs[-1].append(dim)
        else:
            runs.append([dim])
    starts = sorted(run[0] for run in runs)
    sizes = {run[0]: prod(dims[kept[dim]] for dim in run) for run in runs}
    if not runs:
        return DeviceOrder((1,), (0,), ids)
    return DeviceOrder(
        tuple([sizes[start] for start in starts]), tuple([starts.index(run[0]) for run in runs]), ids
    )


def listed_order(ids: Sequence[int]) -> DeviceOrder:
    """The order of a list of devices."""
    return DeviceOrder((len(ids),), (0,), tuple(ids))


def row_major_strides(sizes: Sequence[int]) -> list[int]:
    """For each size, the product of those after it."""
    strides = [1] * len(sizes)
    for dim in range(len(sizes) - 1, 0, -1):
        strides[dim - 1] = strides[dim] * sizes[dim]
    return strides


def order_of_digits(digits: Sequence[Digit]) -> DeviceOrder | None:
    """The iota order with these digits, whose sizes are greater than 1.

    None if they do not give each index exactly once.
    """
    by_stride = sorted(range(len(digits)), key=lambda at: -digits[at].stride)
    if row_major_strides([digits[at].size for at in by_stride]) != [digits[at].stride for at in by_stride]:
        return None
    return canonical_order(
        [digits[at].size for at in by_stride], [by_stride.index(at) for at in range(len(digits))]
    )


def digits_of(values: Sequence[int]) -> list[Digit] | None:
    """The digits, major to minor, of the order in which `values[i]` is the index at position i.

    None if no digits give these values. The size and stride of the minor-most digit are the length and step
    of the longest arithmetic progression at the start. The values are divided into runs of this length; the
    other digits are those of the starts of these runs.
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
