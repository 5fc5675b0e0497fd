"""What a sharding gives each device of a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sdyopt.dialects.sdy.sharding import TensorSharding
from tests.simulation.devices import Devices, Numbers

Array = NDArray[np.float64]
Shape = tuple[int, ...]

PADDING = np.nan


@dataclass
class Tensor:
    """A tensor in pieces: `held[device]` is what that device has of it, padding included."""

    shape: Shape
    held: Array
    # How often borders between shards had to move, because sizes do not divide.
    moves: int = 0


def shard_size(size: int, count: int) -> int:
    """How large the shards of a dimension are, padding included."""
    return -(-size // count)


def take(held: Array, dim: int, starts: Numbers, size: int) -> Array:
    """Each device keeps so much of a dimension, from its own start on. Behind the end is padding."""
    held = padded(held, {dim + 1: int(starts.max(initial=0)) + size})
    index = starts[:, None] + np.arange(size)[None, :]
    index = index.reshape([len(starts), *[1] * dim, size, *[1] * (held.ndim - dim - 2)])
    return np.take_along_axis(held, index, dim + 1)


def padded(array: Array, sizes: Mapping[int, int]) -> Array:
    """An array with padding behind it in some dimensions, where it is not so large yet."""
    widths = [(0, max(0, sizes.get(dim, 0) - size)) for dim, size in enumerate(array.shape)]
    if not any(after for _, after in widths):
        return array
    return np.pad(array, widths, constant_values=PADDING)


def shards(parts: Array, sharding: TensorSharding, devices: Devices) -> Array:
    """What each device is to hold of the sum of some tensors: its shard of one of them."""
    counts = [devices.size(dim.axes) for dim in sharding.dims]
    sizes = [shard_size(*each) for each in zip(parts.shape[1:], counts, strict=True)]
    parts = padded(parts, {dim + 1: size * counts[dim] for dim, size in enumerate(sizes)})
    held = parts[devices.positions(sharding.unreduced_axes)] if len(parts) > 1 else parts
    held = np.broadcast_to(held, (devices.count, *parts.shape[1:]))
    for dim, size in enumerate(sizes):
        if counts[dim] > 1:
            held = take(held, dim, devices.positions(sharding.dims[dim].axes) * size, size)
    return held


def parts_of_sum(shape: Shape, sharding: TensorSharding, devices: Devices) -> Array:
    """Tensors whose sum is a tensor of a shape, one for each place along the unreduced axes.

    All numbers in them are different, and so are all numbers in the sum.
    """
    count = devices.size(sharding.unreduced_axes)
    return np.arange(1.0, count * prod(shape) + 1).reshape(count, *shape)


def summed(held: Array, groups: Numbers) -> Array:
    """Each device gets the sum of what its group has."""
    result = np.empty_like(held)
    result[groups] = held[groups].sum(axis=1)[:, None]
    return result


def wrong_devices(tensor: Tensor, whole: Array, sharding: TensorSharding, devices: Devices) -> Sequence[int]:
    """The devices that do not hold what a sharding of the whole tensor gives them."""
    meant = summed(tensor.held, devices.groups(sharding.unreduced_axes))
    wanted = shards(whole[None], sharding, devices)
    if meant.shape != wanted.shape:
        return range(devices.count)
    is_right = (meant == wanted) | np.isnan(wanted)
    found: list[int] = np.nonzero(~is_right.reshape(devices.count, -1).all(axis=1))[0].tolist()
    return found
