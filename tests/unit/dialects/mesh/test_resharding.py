"""Resharding on random meshes, tensors and shardings: every device gets the right shard."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from docs import device_groups
from docs.device_groups import Device
from passes.mesh.spmdization import Spmdization
from sdyopt.mlir.dialects.mesh.attributes import MeshSharding, ReductionKind, sharding_text
from sdyopt.mlir.ir.attribute import SymbolRef
from tests.simulation.programs import function_of, read, verify

from .simulation import REDUCTIONS, Array, Arrays, Shape, run

CASES = 1000
KINDS = (ReductionKind.SUM, ReductionKind.MAX, ReductionKind.MIN)
MESH = SymbolRef("g")


def _random_split_axes(random: Random, axes: list[int], rank: int) -> list[tuple[int, ...]]:
    """Distributes some of the axes over the dimensions."""
    lists: list[list[int]] = [[] for _ in range(rank)]
    for axis in random.sample(axes, len(axes)):
        if random.random() < 0.7:
            random.choice(lists).append(axis)
    return [tuple(axes) for axes in lists]


def _shard(shape: Shape, tensor: Array, sharding: MeshSharding, device: Device) -> Array:
    """The shard of a tensor on a device."""
    for dimension in range(tensor.ndim):
        axes = sharding.axes_of(dimension)
        position = device_groups.linear_index_in_group(shape, device, axes)
        tensor = np.split(tensor, device_groups.group_size(shape, axes), dimension)[position]
    return tensor


class _Case:
    """A mesh, the partial values of a tensor, and two shardings of it."""

    def __init__(self, seed: int) -> None:
        random = self.random = Random(seed)
        self.shape: Shape = tuple(random.choice((1, 2, 2, 3)) for _ in range(random.randint(1, 4)))
        rank = random.randint(1, 3)
        axes = list(range(len(self.shape)))
        partial = [axis for axis in axes if random.random() < 0.25]
        kind = random.choice(KINDS)
        kept = tuple(axis for axis in partial if random.random() < 0.5)
        self.source = MeshSharding(
            MESH,
            tuple(_random_split_axes(random, [a for a in axes if a not in partial], rank)),
            tuple(random.sample(partial, len(partial))),
            kind,
        )
        self.target = MeshSharding(
            MESH, tuple(_random_split_axes(random, [a for a in axes if a not in kept], rank)), kept, kind
        )
        self.global_shape = tuple(
            random.randint(1, 2) * prod(self.shape[a] for a in set(self._axes(d))) for d in range(rank)
        )
        self.partial_values: dict[Device, Array] = {
            index: np.array([random.randint(-9, 9) for _ in range(prod(self.global_shape))]).reshape(
                self.global_shape
            )
            for index in product(*[range(self.shape[axis]) for axis in self.source.partial_axes])
        }

    def _axes(self, dimension: int) -> tuple[int, ...]:
        return self.source.axes_of(dimension) + self.target.axes_of(dimension)

    @property
    def text(self) -> str:
        sizes = "x".join(map(str, self.global_shape))
        type = f"tensor<{sizes}xi64>"
        return f"""
            mesh.mesh @g(shape = {"x".join(map(str, self.shape))})
            func.func @f(%a: {type}) -> {type} {{
              %0 = mesh.shard %a to {sharding_text(self.source)} : {type}
              %1 = mesh.shard %0 to {sharding_text(self.target)} annotate_for_users : {type}
              return %1 : {type}
            }}"""

    def arguments(self) -> Arrays:
        return {
            device: _shard(
                self.shape,
                self.partial_values[device_groups.index_in_group(device, self.source.partial_axes)],
                self.source,
                device,
            )
            for device in device_groups.multi_indices(self.shape)
        }

    def check(self, results: Arrays) -> None:
        """Reduces the results along partial axes, and compares them with the shards of the tensor."""
        combine = REDUCTIONS[self.target.partial_kind]
        tensor = self._reduced(list(self.partial_values.values()))
        for device in device_groups.multi_indices(self.shape):
            members = device_groups.devices_in_same_group(self.shape, device, self.target.partial_axes)
            result = results[members[0]]
            for member in members[1:]:
                result = combine(result, results[member])
            np.testing.assert_array_equal(result, _shard(self.shape, tensor, self.target, device))

    def _reduced(self, arrays: list[Array]) -> Array:
        combine = REDUCTIONS[self.source.partial_kind]
        total = arrays[0]
        for array in arrays[1:]:
            total = combine(total, array)
        return total


@pytest.mark.parametrize("start", range(0, CASES, 100))
def test_every_device_gets_its_shard(start: int) -> None:
    for seed in range(start, start + 100):
        case = _Case(seed)
        module = read(case.text)
        function = function_of(module)
        Spmdization().run(function)
        assert verify(module), case.text
        (results,) = run(function, case.shape, [case.arguments()])
        case.check(results)
