"""Random inputs, the shards of them that each device has, and comparison of results, shard by shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

# The ranges that floats are drawn from. The next one is tried if one leads to NaN or infinity, or to results
# that say nothing because rounding changes them.
RANGES = ((-1.0, 1.0), (0.25, 1.25), (0.0, 0.0625), (-0.0625, 0.0625))

# Without promotion, floats are multiples of this, so that short sums of them are not rounded at all.
STEP = 1 / 64

Placement = dict[str, Any]

# How the parts of an unreduced value are combined.
REDUCTIONS: dict[str, Any] = {"sum": np.add, "max": np.maximum, "min": np.minimum}

# The sum of truths is their disjunction, and so is their maximum.
_OF_TRUTHS = {"sum": "min", "max": "min", "min": "max"}
_OPPOSITE = {"max": "min", "min": "max"}


def draw(
    rng: np.random.Generator, value: Placement, range: tuple[float, float], largest: int, is_coarse: bool
) -> Array:
    """A random tensor.

    Half of the integers are small, the others up to the largest dimension of the program: as indices they
    reach all shards, and some are out of bounds. Scalars are small, because they may count iterations.
    """
    dtype = dtype_of(value)
    shape = tuple(value["shape"])
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype == np.uint32:  # keys of random numbers
        return rng.integers(0, 2**32, shape, dtype=np.uint64).astype(dtype)
    if is_exact(dtype):
        small, large = rng.integers(0, 7, shape), rng.integers(0, largest, shape)
        if not shape or dtype.itemsize < 4:
            return small.astype(dtype)
        return np.where(rng.integers(0, 2, shape) == 1, small, large).astype(dtype)

    def numbers() -> Array:
        drawn = rng.uniform(*range, shape)
        # Without -0.0, which an all-reduce of XLA on the CPU turns into 0.0.
        return np.round(drawn / STEP) * STEP + 0.0 if is_coarse else drawn

    return (numbers() + 1j * numbers() if dtype.kind == "c" else numbers()).astype(dtype)


def perturbed(rng: np.random.Generator, array: Array) -> Array:
    """A tensor whose floats are changed by about as much as rounding does."""
    if is_exact(array.dtype):
        return array
    real = array.real.dtype
    factors = 1 + 4 * float(ml_dtypes.finfo(real).eps) * rng.choice([-1, 1], array.shape)
    return np.asarray(array * factors).astype(array.dtype)


def slices(value: Placement, device: int) -> tuple[slice, ...]:
    """The slice of a tensor that a device has."""
    result = []
    for local, shards in zip(value["local_shape"], value["shards"], strict=True):
        start = 0 if shards is None else shards[device] * local
        result.append(slice(start, start + local))
    return tuple(result)


def cut(rng: np.random.Generator, whole: Array, value: Placement, devices: int) -> list[Array]:
    """The shard of each device. The parts of unreduced values are random; combined they are the shard."""
    shards = [np.ascontiguousarray(whole[slices(value, device)]) for device in range(devices)]
    for group in value["groups"]:
        for device in group[1:]:
            like = shards[device]
            drawn = rng.integers(-4, 5, like.shape)
            part = (drawn if is_exact(like.dtype) else drawn / 4).astype(like.dtype)
            whole_shard = shards[group[0]]
            if part.dtype == np.bool_:
                shards[device] = REDUCTIONS[_OF_TRUTHS[value["reduction"]]](whole_shard, part)
            elif value["reduction"] == "sum":
                shards[group[0]] = (whole_shard - part).astype(part.dtype)
                shards[device] = part
            else:
                # Parts that the reduction of the whole with them leaves as it is.
                shards[device] = REDUCTIONS[_OPPOSITE[value["reduction"]]](whole_shard, part)
    return shards


Array = npt.NDArray[Any]
DType = np.dtype[Any]

_NAMES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
    **{f"i{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
}

# The names that ml_dtypes has for the rest; a version may lack some.
_SMALL = {"i2": "int2", "i4": "int4", "ui2": "uint2", "ui4": "uint4"}
_FLOATS = (
    *("f8E4M3FN", "f8E5M2", "f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3", "f8E3M4"),
    *("f4E2M1FN", "f8E8M0FNU"),
)


def numpy_type(element: str) -> DType | None:
    """The type of numpy; None if there is none."""
    result = _NAMES.get(element)
    if result is None and element in _SMALL:
        result = getattr(ml_dtypes, _SMALL[element], None)
    if result is None and element in _FLOATS:
        result = getattr(ml_dtypes, f"float{element[1]}_{element[2:].lower()}", None)
    return None if result is None else np.dtype(result)


def dtype_of(value: Placement) -> DType:
    """The type of numpy of a value that has one."""
    dtype = numpy_type(value["element"])
    assert dtype is not None
    return dtype


def is_exact(dtype: DType) -> bool:
    """Whether numbers of this type are not rounded."""
    return dtype.kind in "biu" or dtype.name in _SMALL.values()


def limit(dtype: DType) -> float:
    """The limit of a difference, relative to the largest element of a result."""
    if is_exact(dtype):
        return 0.0
    size = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    return {8: 1e-9, 4: 2e-5}.get(size, 2e-2)


def wide(array: Array) -> Array:
    """The numbers in a type in which differences can be computed."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    if is_exact(array.dtype):
        # Python's integers: no difference of 64-bit integers may overflow or be rounded.
        return array.astype(np.int64 if array.dtype.itemsize < 8 else object)
    return array.astype(np.float64)


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
