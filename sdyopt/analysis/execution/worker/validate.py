"""The task `validate`: run the global and the local program on the same inputs, and compare the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import jax
import numpy as np

from sdyopt.analysis.execution.worker.execute import DeviceProgram
from sdyopt.analysis.execution.worker.inputs import (
    RANGES,
    Array,
    Difference,
    Placement,
    cut,
    draw,
    dtype_of,
    limit,
    numpy_type,
    perturbed,
    relative_distance,
)

# A difference says nothing if differently rounded inputs lead to this share of it.
_SHARE = 0.1
# The whole results, and per result those on each device if the devices have different ones.
Expected = tuple[list[Array], list[list[Array] | None]]


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
        self._global, self._local = self._programs(careful=False)
        self._is_careful = False

    def _programs(self, careful: bool) -> tuple[DeviceProgram, DeviceProgram]:
        """Both programs, compiled."""
        devices = self._devices if self._has_oracle else 1
        counts = (1, self._devices) if self._is_manual else (self._devices, 1)
        return (
            DeviceProgram(self._request["global"], 1, devices, careful),
            DeviceProgram(self._request["local"], *counts, careful),
        )

    def run(self) -> list[dict[str, Any]]:
        limits = [limit(dtype_of(value)) for value in self._results]
        differences = [Difference(index, item) for index, item in enumerate(limits)]
        for seed in range(self._request["seeds"]):
            for difference, other in zip(differences, self._best_attempt(seed, limits), strict=True):
                difference.merge(other)
        return [difference.as_dict() for difference in differences]

    def _best_attempt(self, seed: int, limits: Sequence[float]) -> list[Difference]:
        """The comparison with the first inputs that lead to stable and finite results, if any do."""
        attempts: list[tuple[int, int, list[Array], Expected]] = []
        for range in RANGES:
            values = self._draw(seed, range)
            expected = self._run_global(values)
            bad = sum(_count_not_finite(whole) for whole in expected[0])
            attempts.append((bad, len(attempts), values, expected))
            if not bad:
                best_attempt = self._compare(seed, limits, values, expected)
                if not any(difference.is_unstable for difference in best_attempt):
                    return best_attempt
        _, _, values, expected = min(attempts, key=lambda attempt: attempt[:2])
        return self._compare(seed, limits, values, expected)

    def _draw(self, seed: int, range: tuple[float, float]) -> list[Array]:
        rng = np.random.default_rng([seed, 0])
        largest, is_coarse = self._request["largest"], self._request["is_coarse"]
        return [draw(rng, value, range, largest, is_coarse) for value in self._arguments]

    def _compare(
        self, seed: int, limits: Sequence[float], values: Sequence[Array], expected: Expected
    ) -> list[Difference]:
        """Runs the local program, and compares its results with the expected ones."""
        rng = np.random.default_rng([seed, 1])
        shards = [
            cut(rng, value, placement, self._devices)
            for value, placement in zip(values, self._arguments, strict=True)
        ]
        if self._is_manual:
            shards = [[shard[None] for shard in per_device] for per_device in shards]
        differences = self._differences(seed, limits, shards, expected)
        if any(difference.devices for difference in differences) and not self._is_careful:
            self._is_careful = True
            with suppress(jax.errors.JaxRuntimeError):
                self._global, self._local = self._programs(careful=True)
                expected = self._run_global(values)
                differences = self._differences(seed, limits, shards, expected)
        wholes = expected[0]
        if any(difference.devices for difference in differences):
            others, _ = self._run_global([perturbed(rng, value) for value in values])
            for difference, whole, other in zip(differences, wholes, others, strict=True):
                if difference.devices and _SHARE * difference.error < relative_distance(whole, other):
                    difference.is_unstable = True
        return differences

    def _differences(
        self, seed: int, limits: Sequence[float], shards: Sequence[Sequence[Array]], expected: Expected
    ) -> list[Difference]:
        """The comparison of each result of the local program with the expected one."""
        differences = [Difference(index, item) for index, item in enumerate(limits)]
        actual = self._local.run(shards)
        for difference, whole, pieces, pieces_expected in zip(
            differences, expected[0], actual, expected[1], strict=True
        ):
            difference.add(seed, whole, pieces, self._results[difference.index], pieces_expected)
        return differences

    def _run_global(self, values: Sequence[Array]) -> Expected:
        if not self._has_oracle:
            whole = [pieces[0] for pieces in self._global.run([[value] for value in values])]
            return whole, [None] * len(whole)
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


def _count_not_finite(array: Array) -> int:
    wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return int(np.sum(~np.isfinite(wide)))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]
