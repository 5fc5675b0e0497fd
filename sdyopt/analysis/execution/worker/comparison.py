"""Comparison of a result with the expected one, shard by shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np

from sdyopt.analysis.execution.worker.inputs import REDUCTIONS, Array, Placement, is_exact, slices, wide


@dataclass
class Difference:
    """The distance of a result from the expected one, over all devices and seeds.

    `error` is relative to `largest`, the largest expected element; infinite if a NaN or infinity is on one
    side only.
    """

    index: int
    limit: float
    error: float = 0.0
    largest: float = 0.0
    not_finite: float = 0.0
    # Whether rounding the inputs differently changes the result as much.
    is_unstable: bool = False
    devices: set[int] = field(default_factory=set)
    sample: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The difference as data."""
        return {**vars(self), "devices": sorted(self.devices), "is_equal": not self.devices}

    def merge(self, other: Difference) -> None:
        """Adds what another comparison of the same result has found."""
        self.largest = max(self.largest, other.largest)
        self.not_finite = max(self.not_finite, other.not_finite)
        self.is_unstable |= other.is_unstable
        self.devices |= other.devices
        if other.error > self.error:
            self.error, self.sample = other.error, other.sample

    def add(
        self,
        seed: int,
        whole: Array,
        shards: Sequence[Array],
        value: Placement,
        expected_shards: Sequence[Array] | None,
    ) -> None:
        """Compares the shards of one run with the whole result, or with the expected shards if given."""
        finite = (
            np.isfinite(whole.astype(_in_double(whole))) if whole.dtype.kind != "b" else np.ones_like(whole)
        )
        largest = float(np.max(np.abs(np.where(finite, wide(whole), 0)))) if whole.size else 0.0
        if largest and not is_exact(whole.dtype):
            # XLA flushes smaller numbers to zero in some operations.
            largest = max(largest, float(ml_dtypes.finfo(whole.real.dtype).smallest_normal))
        self.largest = max(self.largest, largest)
        if whole.size:
            self.not_finite = max(self.not_finite, 1 - float(np.mean(finite)))
        for devices, shard in reduced(shards, value):
            expected = (
                whole[slices(value, devices[0])] if expected_shards is None else expected_shards[devices[0]]
            )
            self._compare(seed, devices, expected, np.asarray(shard).reshape(expected.shape), largest)

    def _compare(
        self, seed: int, devices: Sequence[int], expected: Array, actual: Array, largest: float
    ) -> None:
        if not expected.size:
            return
        one, other = wide(expected), wide(actual)
        same = np.asarray(one == other)
        if one.dtype != object:
            same = same | (np.isnan(one) & np.isnan(other))
        with np.errstate(invalid="ignore"):
            gap = np.where(same, 0, np.abs(np.where(same, 0, one) - np.where(same, 0, other))).astype(
                np.float64
            )
        gap = np.where(np.isnan(gap), np.inf, gap)
        error = float(np.max(gap))
        relative = error / largest if largest else error
        if relative > self.limit:
            self.devices.update(devices)
        if relative > self.error:
            self.error = relative
            index = np.unravel_index(int(np.argmax(gap)), gap.shape)
            self.sample = {
                "seed": seed,
                "device": devices[0],
                "element": [int(item) for item in index],
                "expected": str(expected[index]),
                "actual": str(actual[index]),
                "share": float(np.mean(gap > self.limit * largest)),
            }


def _in_double(array: Array) -> Any:
    return np.complex128 if array.dtype.kind == "c" else np.float64


def reduced(shards: Sequence[Array], value: Placement) -> Iterator[tuple[Sequence[int], Array]]:
    """For each shard, the devices that have it, or partial results of it, and the shard itself."""
    if not value["groups"]:
        yield from (((device,), shard) for device, shard in enumerate(shards))
        return
    for group in value["groups"]:
        total = reduce(REDUCTIONS[value["reduction"]], [wide(shards[device]) for device in group])
        yield group, np.asarray(total).astype(shards[group[0]].dtype)


def relative_distance(one: Array, other: Array) -> float:
    """The largest difference of two tensors, relative to the largest element of the first."""
    if not one.size:
        return 0.0
    first, second = wide(one), wide(other)
    finite = np.isfinite(first.astype(_in_double(one))) & np.isfinite(second.astype(_in_double(one)))
    largest = float(np.max(np.abs(np.where(finite, first, 0))))
    gap = float(np.max(np.abs(np.where(finite, first, 0) - np.where(finite, second, 0))))
    return gap / largest if largest else gap
