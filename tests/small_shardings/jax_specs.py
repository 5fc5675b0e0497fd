"""Prints, as JSON, the GSPMD text to which JAX converts each PartitionSpec, and the slices of each device.

Needs jax, and XLA_FLAGS=--xla_force_host_platform_device_count=24, which gives 24 devices on any machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, permutations
from math import prod

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MESHES = [(2, 3), (4, 2), (2, 3, 4)]
SIZE = 48


def specs(names: Sequence[str], rank: int) -> Iterator[PartitionSpec]:
    """Every assignment of axes to dimensions."""
    for count in range(len(names) + 1):
        for order in permutations(names, count):
            for cuts in combinations_with_replacement(range(count + 1), rank - 1):
                bounds = [0, *cuts, count]
                yield PartitionSpec(*[order[bounds[dim] : bounds[dim + 1]] or None for dim in range(rank)])


def main() -> None:
    cases = []
    for sizes in MESHES:
        names = "xyz"[: len(sizes)]
        mesh = Mesh(np.array(jax.devices()[: prod(sizes)]).reshape(sizes), tuple(names))
        for rank in (1, 2, 3):
            for spec in specs(names, rank):
                sharding = NamedSharding(mesh, spec)
                slices = {
                    device.id: [(part.start or 0, SIZE if part.stop is None else part.stop) for part in index]
                    for device, index in sharding.devices_indices_map((SIZE,) * rank).items()
                }
                hlo = str(sharding._to_xla_hlo_sharding(rank))
                cases.append((list(zip(names, sizes, strict=True)), rank, str(spec), hlo, slices))
    print(json.dumps(cases))


if __name__ == "__main__":
    main()
