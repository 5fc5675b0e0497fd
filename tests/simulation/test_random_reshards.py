"""Simulates random reshards after they are lowered to collectives."""

import pytest

from tests.random_reshards.cases import random_reshard
from tests.simulation.judge import KEPT, OTHER_DEVICES, REJECTED, RIGHT, WRONG, convert, judge
from tests.simulation.kinds import KINDS
from tests.simulation.local import simulate_local
from tests.simulation.programs import function_of, read_unverified

CASES, SUMS, CHUNK = 1500, 500, 250
LOCAL = 120
# Shards of another size become partial sums.
BORDERS_OF_SUMS = 7083


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


def test_every_device_gets_its_shard_in_local_programs() -> None:
    kind, verdicts = KINDS["local"], []
    for seed in (*range(LOCAL), BORDERS_OF_SUMS):
        verdict, simulation = judge(kind.make(seed), kind)
        assert verdict not in (WRONG, KEPT, REJECTED), (seed, simulation.problems)
        verdicts.append(verdict)
    assert verdicts.count(RIGHT) > LOCAL // 4


def test_a_wrong_local_program_is_a_problem() -> None:
    kind, reshard = KINDS["local"], random_reshard(2)
    local = convert(reshard, kind)
    wrong = local.replace("dense<[0, 6]>", "dense<[0, 5]>")
    assert wrong != local
    before = function_of(read_unverified(kind.text(reshard)))
    assert simulate_local(before, read_unverified(wrong)).problems == ["result 0 is wrong on devices [0, 1]"]


def test_one_device_is_not_simulated_as_another_one() -> None:
    """Seed 20460 reshards between device 6 and the only device of a mesh."""
    kind = KINDS["reshards"]
    assert judge(kind.make(20460), kind)[0] == OTHER_DEVICES
