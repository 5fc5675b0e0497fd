"""The shards of a tensor under a sharding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from tests.simulation.devices import Devices, Numbers

Array = NDArray[np.float64]
Shape = tuple[int, ...]

PADDING = np.nan


@dataclass
class Tensor:
    """A sharded tensor: `shards[device]` is the shard of that device, with padding."""

    shape: Shape
    shards: Array
    # The number of moves of shard boundaries, because sizes do not divide.
    moves: int = 0


def shard_size(size: int, count: int) -> int:
    """The size of the shards of a dimension, with padding."""
    return -(-size // count)


def take(arrays: Array, dim: int, starts: Numbers, size: int) -> Array:
    """A slice of each device's array along a dimension, from the device's start; padded after the end."""
    arrays = padded(arrays, {dim + 1: int(np.max(starts, initial=0)) + size})
    index = starts[:, None] + np.arange(size)[None, :]
    index = index.reshape([len(starts), *[1] * dim, size, *[1] * (arrays.ndim - dim - 2)])
    return np.take_along_axis(arrays, index, dim + 1)


def padded(array: Array, sizes: Mapping[int, int]) -> Array:
    """An array padded to at least these sizes, by dimension."""
    widths = [(0, max(0, sizes.get(dim, 0) - size)) for dim, size in enumerate(array.shape)]
    if not any(after for _, after in widths):
        return array
    return np.pad(array, widths, constant_values=PADDING)


def shards(parts: Array, sharding: TensorSharding, devices: Devices) -> Array:
    """The array of each device: its shard of one of the partial sums `parts`."""
    counts = [devices.size(dim.axes) for dim in sharding.dims]
    sizes = [shard_size(*each) for each in zip(parts.shape[1:], counts, strict=True)]
    parts = padded(parts, {dim + 1: size * counts[dim] for dim, size in enumerate(sizes)})
    arrays = parts[devices.positions(sharding.unreduced_axes)] if len(parts) > 1 else parts
    arrays = np.broadcast_to(arrays, (devices.count, *parts.shape[1:]))
    for dim, size in enumerate(sizes):
        if counts[dim] > 1:
            arrays = take(arrays, dim, devices.positions(sharding.dims[dim].axes) * size, size)
    return arrays


def partial_sums(shape: Shape, sharding: TensorSharding, devices: Devices) -> Array:
    """Partial sums of a tensor, one for each coordinate along the unreduced axes.

    No two of their elements are equal, and no two elements of their sum.
    """
    count = devices.size(sharding.unreduced_axes)
    return np.arange(1.0, count * prod(shape) + 1).reshape(count, *shape)


def summed(arrays: Array, groups: Numbers) -> Array:
    """The sum of the arrays in each group, on all its devices."""
    result = np.empty_like(arrays)
    result[groups] = arrays[groups].sum(axis=1)[:, None]
    return result


def wrong_devices(tensor: Tensor, whole: Array, sharding: TensorSharding, devices: Devices) -> Sequence[int]:
    """The devices whose shard, summed along unreduced axes, is not that of the global tensor `whole`.

    Padding may have any value.
    """
    actual = summed(tensor.shards, devices.groups(sharding.unreduced_axes))
    expected = shards(whole[None], sharding, devices)
    if actual.shape != expected.shape:
        return range(devices.count)
    is_right = (actual == expected) | np.isnan(expected)
    wrong: list[int] = np.nonzero(~is_right.reshape(devices.count, -1).all(axis=1))[0].tolist()
    return wrong
