"""The task `execute`: run a program on given inputs, for several steps, on virtual devices of the CPU."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import jax
import numpy as np
from jax._src import xla_bridge
from jax._src.sharding_impls import GSPMDSharding
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import xla_client

from sdyopt.analysis.execution.worker.inputs import (
    Array,
    Placement,
    cut,
    dtype_of,
    numpy_type,
    reduced,
    slices,
)

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


def answer(request: Mapping[str, Any], send: Callable[[Mapping[str, Any]], None]) -> dict[str, object]:
    """The results of each step, as text that encodes their bytes."""
    for value in (*request["arguments"], *request["results"]):
        if numpy_type(value["element"]) is None:
            return {"cannot": f"there is no array of {value['element']} in numpy"}
    try:
        return {"steps": _run(request)}
    except (jax.errors.JaxRuntimeError, NotImplementedError, ValueError, TypeError) as error:
        return {"cannot": f"XLA: {str(error).strip().partition(chr(10))[0][:300]}"}
    except MemoryError:
        return {"cannot": "out of memory"}


def _run(request: Mapping[str, Any]) -> list[list[str]]:
    devices: int = request["devices"]
    is_manual = request["mode"] == "manual" and devices > 1
    program = DeviceProgram(request["text"], *((1, devices) if is_manual else (devices, 1)))
    placements: Sequence[Placement] = request["arguments"]
    values = [
        _decoded(data, placement) for data, placement in zip(request["values"], placements, strict=True)
    ]
    rng = np.random.default_rng(0)
    steps = []
    for _ in range(request["steps"]):
        shards = [
            cut(rng, value, placement, devices) for value, placement in zip(values, placements, strict=True)
        ]
        if is_manual:
            shards = [[shard[None] for shard in per_device] for per_device in shards]
        shards_of_results = program.run(shards)
        results = [
            _whole(pieces, placement)
            for pieces, placement in zip(shards_of_results, request["results"], strict=True)
        ]
        steps.append([b64encode(np.ascontiguousarray(result).tobytes()).decode() for result in results])
        for result, argument in request["carry"]:
            values[argument] = results[result]
    return steps


def _decoded(data: str, placement: Placement) -> Array:
    return np.frombuffer(b64decode(data), dtype=dtype_of(placement)).reshape(placement["shape"])


def _whole(pieces: Sequence[Array], placement: Placement) -> Array:
    """The whole tensor, from what each device has."""
    whole = np.zeros(placement["shape"], dtype_of(placement))
    local = [piece.reshape(placement["local_shape"]) for piece in pieces]
    for devices, shard in reduced(local, placement):
        whole[slices(placement, devices[0])] = shard
    return whole
