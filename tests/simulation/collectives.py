"""Simulates sdy's collectives as exchanges between the devices of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sdyopt.mlir.dialects.sdy.axes import AxesPerDim, AxisRef
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ShardedToUnreducedOp,
)
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.operation import Op
from tests.simulation.devices import Devices, Numbers
from tests.simulation.shards import Array, Tensor, padded, shard_size, summed, take

Axes = Sequence[AxisRef]


class Exchange:
    """The execution of a collective: `shards` has the array of each device, and every step replaces it."""

    def __init__(self, op: CollectiveOp, tensor: Tensor) -> None:
        self.op = op
        self.out: TensorSharding = op.out_sharding
        self.before = sharding_of(op.tensor) or fully_replicated(
            self.out.rank, self.out.mesh_or_ref, is_closed=True
        )
        self.devices = Devices(_mesh(self.out, op))
        self.shape = tensor.shape
        self.shards = tensor.shards
        self.moves = tensor.moves

    def gather(self, dim: int, axes: Axes) -> None:
        """Concatenates the shards along axes, on every device of each group."""
        groups = self.devices.groups(axes)
        received = self.shards[groups]
        chunks = [received[:, index] for index in range(groups.shape[1])]
        self._set_groups(groups, np.concatenate(chunks, dim + 1))
        self.move_boundaries(dim, self.out.dims[dim].axes)

    def slice(self, dim: int, axes: Axes) -> None:
        """Each device keeps one slice of its array, that of its coordinate along axes."""
        size = self._aligned(dim, axes)
        self.shards = take(self.shards, dim, self.devices.positions(axes) * size, size)

    def exchange_slices(self, source: int, target: int, axes: Axes) -> None:
        """Each device sends a slice of dimension `target` to each device of its group, and keeps one.

        It concatenates the slices that it receives along dimension `source`.
        """
        self._aligned(target, axes)
        groups = self.devices.groups(axes)
        count = groups.shape[1]
        # Indexed by receiver, then group and sender.
        parts = np.split(self.shards[groups], count, target + 2)
        received = [
            np.concatenate([part[:, sender] for sender in range(count)], source + 1) for part in parts
        ]
        self.shards = np.empty((self.devices.count, *received[0].shape[1:]))
        for receiver, array in enumerate(received):
            self.shards[groups[:, receiver]] = array
        self.move_boundaries(source, self.out.dims[source].axes)

    def reduce(self, axes: Axes) -> None:
        """Sums the arrays of the devices in each group."""
        self.shards = summed(self.shards, self.devices.groups(axes))

    def pad_with_zeros(self, dim: int, axes: Axes) -> None:
        """Each device adds zeros where the other shards along axes are."""
        size, count = self.shards.shape[dim + 1], self.devices.size(axes)
        shape = list(self.shards.shape)
        shape[dim + 1] = size * count
        positions = self.devices.positions(axes)
        result = np.zeros(shape)
        for position in range(count):
            part = (
                positions == position,
                *[slice(None)] * dim,
                slice(position * size, (position + 1) * size),
            )
            result[part] = self.shards[positions == position]
        self.shards = result
        self.move_boundaries(dim, self.out.dims[dim].axes)

    def zero_copies(self, axes: Axes) -> None:
        """Keeps the array of the first device along axes, and sets those of the others to zero."""
        is_copy = self.devices.positions(axes) > 0
        self.shards = self.shards.copy()
        self.shards[is_copy] = 0.0

    def permute(self) -> None:
        """Each device sends its array to one device that has this shard in the result."""
        receivers = _by_shard(self.out, self.devices)
        senders = _by_shard(self.before, Devices(_mesh(self.before, self.op)))
        assert [key for key, _ in senders] == [key for key, _ in receivers], (
            "the result does not have the shards of the operand"
        )
        result = np.empty_like(self.shards)
        for (_, sender), (_, receiver) in zip(senders, receivers, strict=True):
            result[receiver] = self.shards[sender]
        self.shards = result

    # --- Sizes that do not divide -----------------------------------------------------------------

    def move_boundaries(self, dim: int, axes: Axes, size: int | None = None) -> None:
        """Moves the boundaries between the shards of a dimension that is sharded along axes.

        Each shard then has `size` elements, by default as many as the size of the dimension and the axes
        define. Only devices that differ along these axes only exchange data.
        """
        size = size or shard_size(self.shape[dim], self.devices.size(axes))
        if self.shards.shape[dim + 1] == size:
            return
        self.moves += 1
        groups = self.devices.groups(axes)
        joined = np.concatenate([self.shards[groups[:, i]] for i in range(groups.shape[1])], dim + 1)
        self._set_groups(groups, self._with_nan_padding(joined, dim))
        self.shards = take(self.shards, dim, self.devices.positions(axes) * size, size)

    def _aligned(self, dim: int, axes: Axes) -> int:
        """Moves boundaries so that shards can be sliced along more axes; returns the size of the slices."""
        before = self.before.dims[dim].axes
        count = self.devices.size(axes)
        size = shard_size(self.shape[dim], self.devices.size(before) * count)
        self.move_boundaries(dim, before, size * count)
        return size

    def _with_nan_padding(self, array: Array, dim: int) -> Array:
        """An array that starts where the dimension starts, with NaN for all elements after its end."""
        elements = array[(slice(None), *[slice(None)] * dim, slice(self.shape[dim]))]
        return padded(elements, {dim + 1: array.shape[dim + 1]})

    def _set_groups(self, groups: Numbers, arrays: Array) -> None:
        """Gives all devices of each group the array of the group."""
        self.shards = np.empty((self.devices.count, *arrays.shape[1:]))
        self.shards[groups] = arrays[:, None]


def _mesh(sharding: TensorSharding, op: Op) -> Mesh:
    mesh = find_mesh(sharding.mesh_or_ref, op)
    assert mesh is not None
    return mesh


def _by_shard(sharding: TensorSharding, devices: Devices) -> list[tuple[tuple[int, ...], int]]:
    """The devices and their keys, sorted: the index of the shard in each dimension and of the partial sum."""
    axes = [*(dim.axes for dim in sharding.dims), sharding.unreduced_axes]
    keys = np.stack([devices.positions(each) for each in axes], axis=1).tolist()
    return sorted((tuple(key), device) for device, key in enumerate(keys))


# --- The collectives ------------------------------------------------------------------------------


def _all_gather(exchange: Exchange, op: AllGatherOp) -> None:
    for dim, axes in _dims(op.gathering_axes):
        exchange.gather(dim, axes)


def _all_slice(exchange: Exchange, op: AllSliceOp) -> None:
    for dim, axes in _dims(op.slicing_axes):
        exchange.slice(dim, axes)


def _all_to_all(exchange: Exchange, op: AllToAllOp) -> None:
    for move in op.params:
        exchange.exchange_slices(move.source, move.target, move.axes)


def _collective_permute(exchange: Exchange, op: CollectivePermuteOp) -> None:
    exchange.permute()


def _all_reduce(exchange: Exchange, op: AllReduceOp) -> None:
    exchange.reduce(op.reduction_axes.axes)


def _reduce_scatter(exchange: Exchange, op: ReduceScatterOp) -> None:
    # On real devices, only the sum of its own shard reaches a device; the result is the same.
    for dim, axes in _dims(op.reduce_scatter_axes):
        exchange.reduce(axes)
        exchange.slice(dim, axes)


def _sharded_to_unreduced(exchange: Exchange, op: ShardedToUnreducedOp) -> None:
    for dim, axes in _dims(op.axes):
        exchange.pad_with_zeros(dim, axes)


def _replicated_to_unreduced(exchange: Exchange, op: ReplicatedToUnreducedOp) -> None:
    exchange.zero_copies(op.axes.axes)


def _dims(axes_per_dim: AxesPerDim) -> Iterator[tuple[int, Axes]]:
    """The dimensions that have axes, and these axes."""
    return ((dim, axes.axes) for dim, axes in enumerate(axes_per_dim) if axes)


# Each function takes operations of its own class only.
COLLECTIVES: Mapping[str, Callable[[Exchange, Any], None]] = {
    "sdy.all_gather": _all_gather,
    "sdy.all_slice": _all_slice,
    "sdy.all_to_all": _all_to_all,
    "sdy.collective_permute": _collective_permute,
    "sdy.all_reduce": _all_reduce,
    "sdy.reduce_scatter": _reduce_scatter,
    "sdy.sharded_to_unreduced": _sharded_to_unreduced,
    "sdy.replicated_to_unreduced": _replicated_to_unreduced,
}


def run_collective(op: Op, tensor: Tensor) -> Tensor:
    """The tensor after a collective."""
    assert isinstance(op, CollectiveOp)
    exchange = Exchange(op, tensor)
    COLLECTIVES[op.signature.name](exchange, op)
    return Tensor(tensor.shape, exchange.shards, exchange.moves)
