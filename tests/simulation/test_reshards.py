"""The simulation accepts right sequences of collectives, and detects wrong ones."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.simulation.programs import function_of, read_unverified
from tests.simulation.reshards import Simulation, simulate

MESHES = """
    sdy.mesh @grid = <["x"=2, "y"=3]>
    sdy.mesh @square = <["x"=2, "y"=2]>
    sdy.mesh @permuted = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>
    sdy.mesh @long = <["x"=8]>
"""


@dataclass(frozen=True)
class ReshardCase:
    """A reshard of a tensor, and a sequence of collectives that may be equivalent to it."""

    type: str
    source: str
    target: str
    steps: tuple[str, ...]

    def simulated(self) -> Simulation:
        before = self._function([f"sdy.reshard %0 <{self.target}>"])
        after = self._function([_operation(number, step) for number, step in enumerate(self.steps)])
        return simulate(function_of(read_unverified(before)), function_of(read_unverified(after)))

    def _function(self, operations: list[str]) -> str:
        lines = [f"%{number + 1} = {op} : {self.type}" for number, op in enumerate(operations)]
        argument = f"%0: {self.type} {{sdy.sharding = #sdy.sharding<{self.source}>}}"
        end = f"return %{len(lines)} : {self.type}"
        return "\n".join([MESHES, f"func.func @f({argument}) -> {self.type} {{", *lines, end, "}"])


def _operation(number: int, step: str) -> str:
    operation, _, sharding = step.partition(" -> ")
    return f"sdy.{operation} %{number} out_sharding=<{sharding}>"


# The first sequence is right, the others are wrong.
CASES: dict[str, tuple[str, str, str, list[tuple[str, ...]]]] = {
    "order of axes in a gather": (
        "tensor<12xf32>", '@grid, [{"y", "x"}]', "@grid, [{}]",
        [
            ('all_gather [{"y", "x"}] -> @grid, [{}]',),
            ('all_gather [{"x", "y"}] -> @grid, [{}]',),
            # Only one of the axes.
            ('all_gather [{"x"}] -> @grid, [{"y"}]',),
        ],
    ),
    "axis of a slice": (
        "tensor<12x12xf32>", "@square, [{}, {}]", '@square, [{"x"}, {"y"}]',
        [
            ('all_slice [{"x"}, {"y"}] -> @square, [{"x"}, {"y"}]',),
            ('all_slice [{"y"}, {"x"}] -> @square, [{"y"}, {"x"}]',),
            # The result sharding does not match the slicing axes.
            ('all_slice [{"y"}, {"x"}] -> @square, [{"x"}, {"y"}]',),
        ],
    ),
    "sub-axis of a slice": (
        "tensor<8xf32>", "@long, [{}]", '@long, [{"x":(2)2}]',
        [
            ('all_slice [{"x":(2)2}] -> @long, [{"x":(2)2}]',),
            ('all_slice [{"x":(1)2}] -> @long, [{"x":(1)2}]',),
            ('all_slice [{"x":(4)2}] -> @long, [{"x":(4)2}]',),
        ],
    ),
    "a permute, and then an all-to-all": (
        "tensor<4x4xf32>", '@square, [{"x", "y"}, {}]', '@square, [{"y"}, {"x"}]',
        [
            (
                'collective_permute -> @square, [{"y", "x"}, {}]',
                'all_to_all [{"x"}: 0->1] -> @square, [{"y"}, {"x"}]',
            ),
            # Without the permute.
            ('all_to_all [{"x"}: 0->1] -> @square, [{"y"}, {"x"}]',),
            # Axes in the wrong order.
            ('all_to_all [{"y"}: 0->1] -> @square, [{"x"}, {"y"}]',),
            # In the wrong order.
            (
                'all_to_all [{"x"}: 0->1] -> @square, [{"y"}, {"x"}]',
                'collective_permute -> @square, [{"y"}, {"x"}]',
            ),
        ],
    ),
    "two moves at once": (
        "tensor<4x4x4x4xf32>", '@square, [{"x"}, {"y"}, {}, {}]', '@square, [{}, {}, {"x"}, {"y"}]',
        [
            ('all_to_all [{"x"}: 0->2, {"y"}: 1->3] -> @square, [{}, {}, {"x"}, {"y"}]',),
            ('all_to_all [{"x"}: 0->3, {"y"}: 1->2] -> @square, [{}, {}, {"y"}, {"x"}]',),
            ('all_to_all [{"x"}: 0->2] -> @square, [{}, {"y"}, {"x"}, {}]',),
        ],
    ),
    "order of devices": (
        "tensor<4xf32>", '@square, [{"x", "y"}]', '@permuted, [{"x", "y"}]',
        [
            ('collective_permute -> @permuted, [{"x", "y"}]',),
            ('collective_permute -> @permuted, [{"y", "x"}]',),
            ('collective_permute -> @square, [{"x", "y"}]',),
            (),
        ],
    ),
    # Shards of size 2x3 become shards of size 3x2.
    "sizes that do not divide": (
        "tensor<5x3xf32>", '@square, [{"x", "y"}, {}]', '@square, [{"x"}, {"y"}]',
        [
            ('all_to_all [{"y"}: 0->1] -> @square, [{"x"}, {"y"}]',),
            ('all_gather [{"y"}, {}] -> @square, [{"x"}, {}]',),
            ('all_slice [{}, {"y"}] -> @square, [{"x", "y"}, {"y"}]',),
        ],
    ),
    "partial sums": (
        "tensor<4xf32>", '@square, [{}], unreduced={"x", "y"}', '@square, [{"x"}], unreduced={"y"}',
        [
            ('reduce_scatter [{"x"}] -> @square, [{"x"}], unreduced={"y"}',),
            (
                'all_reduce {"x"} -> @square, [{}], unreduced={"y"}',
                'all_slice [{"x"}] -> @square, [{"x"}], unreduced={"y"}',
            ),
            ('all_slice [{"x"}] -> @square, [{"x"}], unreduced={"y"}',),
            ('reduce_scatter [{"y"}] -> @square, [{"y"}], unreduced={"x"}',),
            (
                'all_reduce {"x", "y"} -> @square, [{}]',
                'all_slice [{"x"}] -> @square, [{"x"}]',
            ),
        ],
    ),
    "making partial sums": (
        "tensor<4xf32>", '@square, [{"x"}]', '@square, [{}], unreduced={"x", "y"}',
        [
            (
                'replicated_to_unreduced {"y"} -> @square, [{"x"}], unreduced={"y"}',
                'sharded_to_unreduced [{"x"}] -> @square, [{}], unreduced={"x", "y"}',
            ),
            ('sharded_to_unreduced [{"x"}] -> @square, [{}], unreduced={"x"}',),
            (
                'all_gather [{"x"}] -> @square, [{}]',
                'replicated_to_unreduced {"y"} -> @square, [{}], unreduced={"y"}',
            ),
        ],
    ),
}  # fmt: skip
# Right as well.
ALSO_RIGHT = {("partial sums", 1)}
ALL = [(name, number) for name, case in CASES.items() for number in range(len(case[3]))]


@pytest.mark.parametrize(("name", "number"), ALL)
def test_only_wrong_sequences_have_problems(name: str, number: int) -> None:
    type, source, target, sequences = CASES[name]
    problems = ReshardCase(type, source, target, sequences[number]).simulated().problems
    assert bool(problems) == (number > 0 and (name, number) not in ALSO_RIGHT)


@pytest.mark.parametrize(("size", "moves"), [(8, 0), (4, 0), (5, 1), (9, 1), (3, 0)])
def test_boundaries_move_only_if_sizes_do_not_divide(size: int, moves: int) -> None:
    """Size 3 does not divide, but its shards of one element still nest: two of them are one of two."""
    step = 'all_gather [{"y"}] -> @square, [{"x"}]'
    case = ReshardCase(f"tensor<{size}xf32>", '@square, [{"x", "y"}]', '@square, [{"x"}]', (step,))
    assert case.simulated() == Simulation([], {"sdy.all_gather": 1}, moves)  # type: ignore[arg-type]
