"""What `sdy-reshard-to-collectives` makes of random reshards, on simulated devices."""

import pytest

from tests.random_reshards.cases import Reshard, random_reshard
from tests.simulation.judge import GIVEN_UP, KEPT, REJECTED, RIGHT, WRONG, judge

CASES, CHUNK = 3000, 250


@pytest.mark.parametrize("start", range(0, CASES, CHUNK))
def test_every_device_gets_its_shard(start: int) -> None:
    verdicts = []
    for seed in range(start, start + CHUNK):
        reshard = random_reshard(seed)
        verdict, simulation = judge(reshard)
        assert verdict != WRONG, (seed, simulation.problems)
        # Only these may be left alone.
        assert verdict != GIVEN_UP or not _has_powers_of_two(reshard), seed
        assert verdict not in (REJECTED, KEPT) or len(reshard.meshes) == 2, seed
        verdicts.append(verdict)
    assert verdicts.count(RIGHT) > CHUNK // 4


def _has_powers_of_two(reshard: Reshard) -> bool:
    """Whether all axes have such sizes, for which two rounds of collectives are enough."""
    return all(size & (size - 1) == 0 for _, size in reshard.target.mesh.axes)
