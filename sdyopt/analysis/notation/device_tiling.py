"""Tilings: how many shards each dimension has, and which devices have each shard.

A tiling lists devices in the order of shards, row-major. The devices of one shard are a group, whose
dimensions are called subgroups: along a replicated one, devices have the same data; along an unreduced one,
partial results; along a manual one, data of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from math import prod
from typing import NamedTuple

from sdyopt.analysis.notation.device_order import DeviceOrder, Digit, canonical_order
from sdyopt.base.dataclasses import dataclass


class Sharing(StrEnum):
    """How devices along a subgroup share a shard."""

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
