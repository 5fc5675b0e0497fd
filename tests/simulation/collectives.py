"""What sdy's collectives do: what the devices of a group send each other, and what they make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import find_mesh
from sdyopt.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import sharding_of
from tests.simulation.devices import Devices, Numbers
from tests.simulation.shards import Array, Tensor, padded, shard_size, summed, take

Axes = Sequence[AxisRef]


class Exchange:
    """A collective while it runs: what the devices hold, which changes step by step."""

    def __init__(self, op: Any, tensor: Tensor) -> None:
        self.op = op
        self.out: TensorSharding = op.out_sharding
        self.before = sharding_of(op.tensor) or fully_replicated(
            self.out.rank, self.out.mesh_or_ref, is_closed=True
        )
        self.devices = Devices(_mesh(self.out, op))
        self.shape = tensor.shape
        self.held = tensor.held
        self.moves = tensor.moves

    def gather(self, dim: int, axes: Axes) -> None:
        """The shards along axes are put together, on every device of the group."""
        groups = self.devices.groups(axes)
        received = self.held[groups]
        chunks = [received[:, index] for index in range(groups.shape[1])]
        self._give(groups, np.concatenate(chunks, dim + 1))
        self.move_borders(dim, self.out.dims[dim].axes)

    def slice(self, dim: int, axes: Axes) -> None:
        """Each device keeps its own part."""
        size = self._aligned(dim, axes)
        self.held = take(self.held, dim, self.devices.positions(axes) * size, size)

    def swap(self, source: int, target: int, axes: Axes) -> None:
        """Each device sends a part of what it has to each device of the group, and keeps one."""
        self._aligned(target, axes)
        groups = self.devices.groups(axes)
        count = groups.shape[1]
        # By receiver, then group and sender.
        parts = np.split(self.held[groups], count, target + 2)
        received = [
            np.concatenate([part[:, sender] for sender in range(count)], source + 1) for part in parts
        ]
        self.held = np.empty((self.devices.count, *received[0].shape[1:]))
        for receiver, array in enumerate(received):
            self.held[groups[:, receiver]] = array
        self.move_borders(source, self.out.dims[source].axes)

    def reduce(self, axes: Axes) -> None:
        """What the devices of a group have is added."""
        self.held = summed(self.held, self.devices.groups(axes))

    def spread(self, dim: int, axes: Axes) -> None:
        """Each device puts zeros where the other shards along axes would be."""
        size, count = self.held.shape[dim + 1], self.devices.size(axes)
        shape = list(self.held.shape)
        shape[dim + 1] = size * count
        positions = self.devices.positions(axes)
        result = np.zeros(shape)
        for position in range(count):
            part = (
                positions == position,
                *[slice(None)] * dim,
                slice(position * size, (position + 1) * size),
            )
            result[part] = self.held[positions == position]
        self.held = result
        self.move_borders(dim, self.out.dims[dim].axes)

    def keep_one(self, axes: Axes) -> None:
        """Of several copies the first one stays, and the others become zero."""
        is_copy = self.devices.positions(axes) > 0
        self.held = self.held.copy()
        self.held[is_copy] = 0.0

    def permute(self) -> None:
        """Each device sends what it has to one device that is to have that."""
        receivers = _by_content(self.out, self.devices)
        senders = _by_content(self.before, Devices(_mesh(self.before, self.op)))
        assert [key for key, _ in senders] == [key for key, _ in receivers], "nobody is to have some chunk"
        result = np.empty_like(self.held)
        for (_, sender), (_, receiver) in zip(senders, receivers, strict=True):
            result[receiver] = self.held[sender]
        self.held = result

    # --- Sizes that do not divide -----------------------------------------------------------------

    def move_borders(self, dim: int, axes: Axes, size: int | None = None) -> None:
        """Moves the borders between the shards of a dimension along axes, to where they belong if not said.

        Devices exchange data with those that share the dimension with them, and differ in nothing else.
        """
        size = size or shard_size(self.shape[dim], self.devices.size(axes))
        if self.held.shape[dim + 1] == size:
            return
        self.moves += 1
        groups = self.devices.groups(axes)
        joined = np.concatenate([self.held[groups[:, i]] for i in range(groups.shape[1])], dim + 1)
        self._give(groups, self._without_padding(joined, dim))
        self.held = take(self.held, dim, self.devices.positions(axes) * size, size)

    def _aligned(self, dim: int, axes: Axes) -> int:
        """Moves borders to where a dimension can be cut along more axes, and says how large the parts are."""
        before = self.before.dims[dim].axes
        count = self.devices.size(axes)
        size = shard_size(self.shape[dim], self.devices.size(before) * count)
        self.move_borders(dim, before, size * count)
        return size

    def _without_padding(self, array: Array, dim: int) -> Array:
        """An array that reaches from the start of a dimension, with nothing known behind the end of that."""
        known = array[(slice(None), *[slice(None)] * dim, slice(self.shape[dim]))]
        return padded(known, {dim + 1: array.shape[dim + 1]})

    def _give(self, groups: Numbers, arrays: Array) -> None:
        """All devices of a group get the same."""
        self.held = np.empty((self.devices.count, *arrays.shape[1:]))
        self.held[groups] = arrays[:, None]


def _mesh(sharding: TensorSharding, op: Any) -> Mesh:
    mesh = find_mesh(sharding.mesh_or_ref, op)
    assert mesh is not None
    return mesh


def _by_content(sharding: TensorSharding, devices: Devices) -> list[tuple[tuple[int, ...], int]]:
    """The devices with what each holds: which shard in every dimension, and which part of the sum."""
    axes = [*(dim.axes for dim in sharding.dims), sharding.unreduced_axes]
    keys = np.stack([devices.positions(each) for each in axes], axis=1).tolist()
    return sorted((tuple(key), device) for device, key in enumerate(keys))


# --- One by one -----------------------------------------------------------------------------------


def _all_gather(exchange: Exchange) -> None:
    for dim, axes in _dims(exchange.op.gathering_axes):
        exchange.gather(dim, axes)


def _all_slice(exchange: Exchange) -> None:
    for dim, axes in _dims(exchange.op.slicing_axes):
        exchange.slice(dim, axes)


def _all_to_all(exchange: Exchange) -> None:
    for move in exchange.op.params:
        exchange.swap(move.source, move.target, move.axes)


def _collective_permute(exchange: Exchange) -> None:
    exchange.permute()


def _all_reduce(exchange: Exchange) -> None:
    exchange.reduce(exchange.op.reduction_axes.axes)


def _reduce_scatter(exchange: Exchange) -> None:
    # Nobody adds up more than his own part in the end; but which parts are added, and whose, is the same.
    for dim, axes in _dims(exchange.op.reduce_scatter_axes):
        exchange.reduce(axes)
        exchange.slice(dim, axes)


def _sharded_to_unreduced(exchange: Exchange) -> None:
    for dim, axes in _dims(exchange.op.axes):
        exchange.spread(dim, axes)


def _replicated_to_unreduced(exchange: Exchange) -> None:
    exchange.keep_one(exchange.op.axes.axes)


def _dims(axes_per_dim: Any) -> Iterator[tuple[int, Axes]]:
    """The dimensions that have axes to work along."""
    return ((dim, axes.axes) for dim, axes in enumerate(axes_per_dim) if axes)


MEANING: Mapping[str, Callable[[Exchange], None]] = {
    "sdy.all_gather": _all_gather,
    "sdy.all_slice": _all_slice,
    "sdy.all_to_all": _all_to_all,
    "sdy.collective_permute": _collective_permute,
    "sdy.all_reduce": _all_reduce,
    "sdy.reduce_scatter": _reduce_scatter,
    "sdy.sharded_to_unreduced": _sharded_to_unreduced,
    "sdy.replicated_to_unreduced": _replicated_to_unreduced,
}


def run_collective(op: Any, tensor: Tensor) -> Tensor:
    """What the devices hold after a collective."""
    exchange = Exchange(op, tensor)
    MEANING[op.signature.name](exchange)
    return Tensor(tensor.shape, exchange.held, exchange.moves)
