"""The task `execute`: run a program on given inputs, for several steps."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from sdyopt.analysis.execution.worker.devices import DeviceProgram
from sdyopt.analysis.execution.worker.inputs import (
    Array,
    Placement,
    cut,
    dtype_of,
    numpy_type,
    reduced,
    slices,
)


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
