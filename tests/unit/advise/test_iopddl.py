"""The solver for instances of the IOPDDL contest finds good strategies that fit."""

from itertools import product
from random import Random
from typing import Any

import pytest

from benchmarks.advice.iopddl import Problem, solved

pytestmark = pytest.mark.sources

IMPOSSIBLE = 10**18


def instance(seed: int) -> dict[str, Any]:
    """Six nodes in a ring with a chord; the strategy of the last one follows from that of the first."""
    random = Random(seed)
    ends = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3), (0, 5)]
    costs = [[random.randrange(100) for _ in range(9)] for _ in ends]
    costs[-1] = [0, IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, 0, IMPOSSIBLE, 0, IMPOSSIBLE]
    return {
        "nodes": {
            "intervals": [[node, node + 3] for node in range(6)],
            "costs": [[random.randrange(100) for _ in range(3)] for _ in range(6)],
            "usages": [[random.randrange(1, 20) for _ in range(3)] for _ in range(6)],
        },
        "edges": {"nodes": [list(each) for each in ends], "costs": costs},
        "usage_limit": 36,
    }


def evaluated(data: dict[str, Any], chosen: tuple[int, ...]) -> int | None:
    """The cost of strategies by the definition; None if they are above the limit."""
    nodes, edges = data["nodes"], data["edges"]
    for time in range(9):
        active = [node for node, (start, end) in enumerate(nodes["intervals"]) if start <= time < end]
        if sum(nodes["usages"][node][chosen[node]] for node in active) > data["usage_limit"]:
            return None
    total: int = sum(costs[own] for costs, own in zip(nodes["costs"], chosen, strict=True))
    pairs = zip(edges["nodes"], edges["costs"], strict=True)
    found: int = total + sum(costs[3 * chosen[first] + chosen[second]] for (first, second), costs in pairs)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_small_instances_are_solved(seed: int) -> None:
    data = instance(seed)
    possible = [evaluated(data, chosen) for chosen in product(range(3), repeat=6)]
    best = min(each for each in possible if each is not None)
    problem = Problem(data)
    assert len(problem.costs) == 5
    chosen = solved(problem, 0.3)
    assert chosen is not None
    # It is no exact solver.
    assert best <= problem.cost(chosen) <= 1.1 * best
    assert max(problem.profile(chosen)) <= problem.limit
