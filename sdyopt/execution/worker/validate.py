"""The task `validate`: run the global and the local program on the same inputs, and compare the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from sdyopt.execution.worker.comparison import differences
from sdyopt.execution.worker.devices import Program
from sdyopt.execution.worker.element_types import Array, DType, numpy_type
from sdyopt.execution.worker.inputs import RANGES, Placement, cut, draw


def answer(request: Mapping[str, Any], send: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
    """The differences of all results."""
    arguments, results = request["arguments"], request["results"]
    for value in (*arguments, *results):
        if numpy_type(value["element"]) is None:
            return {"cannot": f"there is no array of {value['element']} in numpy"}
    try:
        return {"results": _Validation(request).run()}
    except (jax.errors.JaxRuntimeError, NotImplementedError, ValueError, TypeError) as error:
        return {"cannot": f"XLA: {_first_line(error)}"}
    except MemoryError:
        return {"cannot": "out of memory"}


class _Validation:
    def __init__(self, request: Mapping[str, Any]) -> None:
        self._request = request
        self._devices: int = request["devices"]
        self._arguments: Sequence[Placement] = request["arguments"]
        self._results: Sequence[Placement] = request["results"]
        self._has_oracle = request["oracle"] == "spmd"
        self._is_manual = request["mode"] == "manual"
        self._global = Program(request["global"], 1, self._devices if self._has_oracle else 1)
        counts = (1, self._devices) if self._is_manual else (self._devices, 1)
        self._local = Program(request["local"], *counts)

    def run(self) -> list[dict[str, Any]]:
        dtypes = [_dtype(value) for value in self._results]
        found = differences(self._results, dtypes)
        for seed in self._request["seeds"]:
            values, wholes, expected = self._expected(seed)
            rng = np.random.default_rng([seed, 1])
            shards = [
                cut(rng, value, place, self._devices)
                for value, place in zip(values, self._arguments, strict=True)
            ]
            if self._is_manual:
                shards = [[shard[None] for shard in per_device] for per_device in shards]
            actual = self._local.run(shards)
            for difference in found:
                index = difference.index
                by_device = None if expected is None else expected[index]
                difference.add(seed, wholes[index], actual[index], self._results[index], by_device)
        return [difference.as_dict() for difference in found]

    def _expected(self, seed: int) -> tuple[list[Array], list[Array], list[list[Array] | None] | None]:
        """Inputs, and the whole results; also those of each device where they are no whole tensor.

        Of several ranges of inputs, the one with the fewest results that are not finite is chosen.
        """
        best: Any = None
        for range in RANGES:
            rng = np.random.default_rng([seed, 0])
            values = [
                draw(rng, value, range, self._request["largest"], self._request["is_coarse"])
                for value in self._arguments
            ]
            wholes, pieces = self._run_global(values)
            bad = sum(int(np.sum(~np.isfinite(each.astype(_double(each))))) for each in wholes)
            if best is None or bad < best[0]:
                best = bad, values, wholes, pieces
            if not bad:
                break
        _, values, wholes, pieces = best
        return values, wholes, pieces

    def _run_global(self, values: Sequence[Array]) -> tuple[list[Array], list[list[Array] | None] | None]:
        if not self._has_oracle:
            return [pieces[0] for pieces in self._global.run([[value] for value in values])], None
        shapes = [value["shape"] for value in self._results]
        wholes, pieces = self._global.run_whole(values, shapes)
        # A result that is said to be replicated and is not has no one value: it is compared on each device.
        return wholes, [
            None if any(value["shards"]) or value["groups"] else _if_different(shards, value["shape"])
            for shards, value in zip(pieces, self._results, strict=True)
        ]


def _if_different(shards: list[Array], shape: Sequence[int]) -> list[Array] | None:
    """The shards, if each is said to be the whole value and they differ."""
    if any(list(shard.shape) != list(shape) for shard in shards):
        return None
    is_same = all(np.array_equal(shard, shards[0], equal_nan=shard.dtype.kind in "fc") for shard in shards)
    return None if is_same else shards


def _dtype(value: Placement) -> DType:
    dtype = numpy_type(value["element"])
    assert dtype is not None
    return dtype


def _double(array: Array) -> Any:
    return np.complex128 if array.dtype.kind == "c" else np.float64


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]
