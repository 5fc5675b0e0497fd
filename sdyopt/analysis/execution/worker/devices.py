"""Compilation and execution on virtual devices of the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import jax
import numpy as np
from jax._src import xla_bridge
from jax._src.sharding_impls import GSPMDSharding
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import xla_client

from sdyopt.analysis.execution.worker.inputs import Array

# They register the custom calls of jax.
for _name in ("jax.numpy", "jax._src.lax.linalg"):
    with suppress(ImportError):
        import_module(_name)
# LAPACK is that of scipy, which jax loads at the first call.
with suppress(ImportError, AttributeError):
    import_module("jaxlib.lapack")._lapack.initialize()

jax.config.update("jax_enable_x64", True)

# What each device has: `arrays[i][d]` is value i on device d.
Shards = Sequence[Sequence[Array]]


# Known mistakes of XLA on the CPU, which a program can be compiled without:
# - The algebraic simplifier merges a slice at dynamic offsets with one of its result, but does not clamp each
#   offset, so that an index that is out of bounds selects elements outside of the shard.
# - The fusion emitter for scatter gives wrong results if there are several inputs.
_WITHOUT_KNOWN_MISTAKES = [("xla_disable_hlo_passes", "algsimp"), ("xla_cpu_use_fusion_emitters", "False")]


class DeviceProgram:
    """A program compiled for a number of replicas and partitions; if `careful`, without known mistakes."""

    def __init__(self, text: str, replicas: int, partitions: int, careful: bool = False) -> None:
        count = replicas * partitions
        self._client = xla_bridge.get_backend("cpu")
        self._devices = self._client.devices()[:count]
        options = xla_client.CompileOptions()
        options.num_replicas, options.num_partitions = replicas, partitions
        if partitions > 1:
            options.executable_build_options.use_spmd_partitioning = True
            options.executable_build_options.use_shardy_partitioner = True
        if careful:
            options.env_option_overrides = _WITHOUT_KNOWN_MISTAKES
        options.device_assignment = xla_client.DeviceAssignment.create(
            np.arange(count).reshape(replicas, partitions)
        )
        devices = xla_client.DeviceList(tuple(self._devices))
        self._executable = self._client.compile_and_load(text, devices, options)

    @property
    def hlo(self) -> str:
        """The text of the program after XLA's optimizations."""
        text: str = self._executable.hlo_modules()[0].to_string()
        return text

    def run(self, shards: Shards) -> list[list[Array]]:
        """The results on each device, for the arguments on each device."""
        sharding = NamedSharding(Mesh(np.array(self._devices), ("d",)), PartitionSpec())
        arrays = []
        for per_device in shards:
            pieces = [jax.device_put(v, d) for v, d in zip(per_device, self._devices, strict=True)]
            arrays.append(jax.make_array_from_single_device_arrays(per_device[0].shape, sharding, pieces))
        return _on_each_device(self._execute(arrays))

    def run_whole(
        self, values: Sequence[Array], shapes: Sequence[Sequence[int]]
    ) -> tuple[list[Array], list[list[Array]]]:
        """The results as whole tensors and on each device, if XLA decides where the arguments are."""
        arrays = [
            jax.device_put(value, self._sharding(proto))
            for value, proto in zip(values, self._executable.get_parameter_shardings() or (), strict=True)
        ]
        results = self._execute(arrays)
        shardings = self._executable.get_output_shardings() or ()
        wholes = [
            np.asarray(
                jax.make_array_from_single_device_arrays(tuple(shape), self._sharding(proto), list(pieces))
            )
            for pieces, proto, shape in zip(results, shardings, shapes, strict=True)
        ]
        return wholes, _on_each_device(results)

    def _execute(self, arrays: Sequence[Any]) -> Any:
        jax.block_until_ready(list(arrays))
        return self._executable.execute_sharded(list(arrays)).disassemble_into_single_device_arrays()

    def _sharding(self, proto: Any) -> Any:
        return GSPMDSharding(tuple(self._devices), xla_client.HloSharding.from_proto(proto))


def _on_each_device(results: Any) -> list[list[Array]]:
    return [[np.asarray(piece) for piece in pieces] for pieces in results]
