"""Dots whose result is better resharded than their operands."""

from __future__ import annotations

import pytest

from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import better_dot_result_axes
from tests.unit.sharding.explicit_reshards.examples import project_all
from tests.unit.sharding.notation import read_axes, read_mesh, read_rule

MESH = read_mesh('"x"=2, "y"=2, "z"=2')
DOT = read_rule("([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}")
DIM_I, DIM_J = 0, 1
LHS, RHS, RESULT = '[{}, {"x"}]', '[{"x"}, {"y"}]', '[{}, {"x"}]'


def better(lhs: str, rhs: str, result: str, sizes: tuple[int, int, int] = (64, 64, 64)) -> object:
    return better_dot_result_axes(DOT, project_all(DOT, MESH, (lhs, rhs, result)), sizes)


def test_the_result_is_sharded_along_the_axes_of_the_operand() -> None:
    assert better(LHS, RHS, RESULT) == (DIM_J, read_axes('"y"'))


def test_the_left_operand_may_have_the_axes_as_well() -> None:
    assert better('[{"y"}, {"x"}]', '[{"x"}, {}]', '[{"x"}, {}]') == (DIM_I, read_axes('"y"'))


def test_the_reduction_may_have_several_axes() -> None:
    assert better('[{}, {"x", "z"}]', '[{"x", "z"}, {"y"}]', '[{}, {"x", "z"}]') == (
        DIM_J,
        read_axes('"y"'),
    )


@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        ('[{}, {"x"}]', '[{"z"}, {"y"}]', '[{}, {"x"}]'),
        ('[{"y"}, {"x"}]', '[{"x"}, {"y"}]', '[{"y"}, {"x"}]'),
        ('[{"z"}, {"x"}]', '[{"x"}, {"y"}]', '[{"y"}, {"x"}]'),
        ('[{}, {"x"}]', '[{"x"}, {"y"}]', '[{}, {"y"}]'),
        ('[{}, {"x"}]', '[{"x"}, {"y"}]', '[{}, {"z"}]'),
        ('[{}, {"x"}]', '[{"x"}, {"y"}]', "[{}, {}]"),
        ('[{}, {"x"}]', '[{"x"}, {}]', '[{}, {"x"}]'),
    ],
    ids=[
        "operands conflict in the contracting dimension",
        "operands overlap in other dimensions",
        "two dimensions of the result conflict",
        "nothing conflicts",
        "the result has another axis than the reduction",
        "the result is replicated",
        "the operand is not sharded",
    ],
)
def test_otherwise_the_result_is_left_alone(lhs: str, rhs: str, result: str) -> None:
    assert better(lhs, rhs, result) is None


def test_a_result_larger_than_the_operand_is_left_alone() -> None:
    assert better(LHS, RHS, RESULT, (64, 63, 64)) is None
    assert better(LHS, RHS, RESULT, (63, 64, 64)) is not None
