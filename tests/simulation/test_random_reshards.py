"""Simulates random reshards after they are lowered to collectives."""

import pytest

from tests.simulation.judge import KEPT, REJECTED, RIGHT, WRONG, judge
from tests.simulation.kinds import KINDS

CASES, SUMS, CHUNK = 3000, 750, 250


@pytest.mark.parametrize("start", range(0, CASES, CHUNK))
def test_every_device_gets_its_shard(start: int) -> None:
    kind, verdicts = KINDS["reshards"], []
    for seed in range(start, start + CHUNK):
        reshard = kind.make(seed)
        verdict, simulation = judge(reshard, kind)
        assert verdict != WRONG, (seed, simulation.problems)
        assert verdict != REJECTED or len(reshard.meshes) == 2, seed
        assert verdict != KEPT or len(reshard.meshes) == 2, seed
        verdicts.append(verdict)
    assert verdicts.count(RIGHT) > CHUNK // 4


@pytest.mark.parametrize("start", range(0, SUMS, CHUNK))
def test_every_device_gets_its_shard_if_unreduced_axes_change(start: int) -> None:
    kind, verdicts = KINDS["sums"], []
    for seed in range(start, start + CHUNK):
        reshard = kind.make(seed)
        verdict, simulation = judge(reshard, kind)
        assert verdict not in (WRONG, KEPT), (seed, simulation.problems)
        verdicts.append(verdict)
    assert verdicts.count(RIGHT) > CHUNK // 2
