"""Compares what a program computes with what its partitioned form computes on all devices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.types import RankedTensor, Type
from sdyopt.shardy.sharding.axis_lists import shard_indices
from tests.interpreter.arrays import Array, dtype_of
from tests.interpreter.machine import Machine
from tests.random_modules.compare import run_here
from tests.simulation.programs import functions_of, read

PIPELINE = "sdy-partition-pipeline"
_COLLECTIVES = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")
_MAIN = "main"


def partitioned(text: str, pipeline: str = PIPELINE) -> str:
    """The text of the program for each device."""
    result = run_here(text, f"builtin.module({pipeline})")
    assert result.output, result.messages
    return result.output


def difference(text: str, local_text: str, seed: int = 0) -> str:
    """How the results of @main differ from those of its partitioned form; empty if they are equal."""
    whole, local = read(text), read(local_text)
    before, after = _main(whole), _main(local)
    mesh = _mesh(local)
    random = np.random.default_rng(seed)
    arguments = [_random(each.type, random) for each in before.entry.arguments]
    expected = [each[0] for each in Machine(whole).call(_MAIN, [[each] for each in arguments])]
    shards = [
        _split(array, argument.type, attributes.get(SHARDING), mesh, random)
        for array, argument, attributes in zip(
            arguments, after.entry.arguments, after.argument_attributes, strict=True
        )
    ]
    found = Machine(local, mesh.total_size).call(_MAIN, shards)
    results = zip(expected, found, after.result_attributes, strict=True)
    for index, (array, each, attributes) in enumerate(results):
        for device, shard in enumerate(each):
            part = _shard_of(array, shard.shape, attributes.get(SHARDING), mesh, device)
            inside = tuple(slice(0, size) for size in part.shape)
            if not np.array_equal(shard[inside], part):
                return f"result {index} on device {device}:\n{shard[inside]}\n  is not\n{part}"
    return ""


def collectives_of(local_text: str) -> str:
    """The number of each kind of collective in a program for each device."""
    counts = Counter(re.findall(r"stablehlo\.(" + "|".join(_COLLECTIVES) + r")\b", local_text))
    return ", ".join(f"{counts[name]} {name}" for name in _COLLECTIVES if counts[name]) or "no collectives"


def _main(module: ModuleOp) -> FuncOp:
    return next(each for each in functions_of(module) if each.sym_name == _MAIN)


def _mesh(module: ModuleOp) -> Mesh:
    return next(op.mesh for op in module.block.ops if isinstance(op, MeshOp))


def _random(type: Type, random: np.random.Generator) -> Array:
    assert isinstance(type, RankedTensor)
    return random.integers(-4, 5, type.shape).astype(dtype_of(type))


def _split(
    array: Array, type: Type, sharding: object, mesh: Mesh, random: np.random.Generator
) -> list[Array]:
    """The shard of each device. What is beyond the elements of the whole tensor is random."""
    assert isinstance(type, RankedTensor)
    shards = []
    for device in range(mesh.total_size):
        part = _shard_of(array, type.shape, sharding, mesh, device)
        shard = _random(type, random)
        shard[tuple(slice(0, size) for size in part.shape)] = part
        shards.append(shard)
    return shards


def _shard_of(array: Array, shape: Sequence[int], sharding: object, mesh: Mesh, device: int) -> Array:
    """The elements of a tensor that a device has, of which the last shards have fewer or none."""
    if not isinstance(sharding, TensorSharding):
        return array
    starts = [_shard_indices(sharding, mesh)[dim][device] * size for dim, size in enumerate(shape)]
    return array[tuple(slice(start, start + size) for start, size in zip(starts, shape, strict=True))]


@cache
def _shard_indices(sharding: TensorSharding, mesh: Mesh) -> list[Sequence[int]]:
    """For each dimension, the shard of each device."""
    return [shard_indices(dim.axes, mesh) for dim in sharding.dims]
