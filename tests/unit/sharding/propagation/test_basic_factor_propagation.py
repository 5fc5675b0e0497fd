"""The basic strategy: propagates the compatible major axes of a factor, up to the first conflict."""

from __future__ import annotations

import pytest

from sdyopt.mlir.dialects.sdy.ops import PropagationDirection
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.shardy.sharding.propagation.basic_factor_propagation import propagate_basic
from sdyopt.shardy.sharding.propagation.step_input import BACKWARD, BOTH, FORWARD, NONE
from tests.unit.sharding.notation import read_mesh, read_rule
from tests.unit.sharding.propagation.strategies import propagate

MESH = read_mesh('"x"=2, "y"=2, "z"=4')
NEGATE = read_rule("([i, j])->([i, j]) {i=8, j=8}")
ADD = read_rule("([i, j], [i, j])->([i, j]) {i=8, j=8}")
DOT = read_rule("([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}")


def basic(
    rule: OpShardingRule,
    *shardings: str,
    direction: PropagationDirection = BOTH,
    is_conservative: bool = False,
) -> list[str]:
    return propagate(propagate_basic, rule, MESH, list(shardings), direction, is_conservative=is_conservative)


# --- Compatible major axes ------------------------------------------------------------------------


def test_an_axis_propagates_to_all_tensors_that_have_the_factor() -> None:
    assert basic(ADD, '[{"x"}, {?}]', "[{?}, {?}]", "[{?}, {?}]") == [
        '[{"x"}, {?}]',
        '[{"x", ?}, {?}]',
        '[{"x", ?}, {?}]',
    ]


def test_a_factor_propagates_only_to_tensors_that_have_it() -> None:
    # k is a factor of both operands, but not of the result.
    assert basic(DOT, '[{?}, {"x"}]', "[{?}, {?}]", "[{?}, {?}]") == [
        '[{?}, {"x"}]',
        '[{"x", ?}, {?}]',
        "[{?}, {?}]",
    ]


def test_the_longer_of_two_lists_propagates_if_the_other_is_its_prefix() -> None:
    assert basic(ADD, '[{"x", ?}, {?}]', '[{"x", "y", ?}, {?}]', "[{?}, {?}]") == ['[{"x", "y", ?}, {?}]'] * 3


def test_a_sub_axis_is_a_prefix_of_its_axis() -> None:
    assert basic(NEGATE, '[{"z":(1)2, ?}, {?}]', '[{"z", ?}, {?}]') == ['[{"z", ?}, {?}]'] * 2


def test_of_incompatible_lists_the_common_prefix_propagates() -> None:
    assert basic(ADD, '[{"x", "y", ?}, {?}]', '[{"x", "z", ?}, {?}]', "[{?}, {?}]") == [
        '[{"x", "y", ?}, {?}]',
        '[{"x", "z", ?}, {?}]',
        '[{"x", ?}, {?}]',
    ]


def test_a_sub_axis_followed_by_another_axis_ends_the_common_prefix() -> None:
    # "z":(1)2, "x" shards other elements than "z" does.
    before = ['[{"z":(1)2, "x", ?}, {?}]', '[{"z", ?}, {?}]']
    assert basic(ADD, *before, "[{?}, {?}]") == [*before, '[{"z":(1)2, ?}, {?}]']
    assert basic(ADD, before[1], before[0], "[{?}, {?}]") == [before[1], before[0], '[{"z":(1)2, ?}, {?}]']


@pytest.mark.parametrize(
    ("direction", "after"),
    [
        (FORWARD, ['[{"x", ?}, {?}]', '[{"x", ?}, {"y", ?}]']),
        (BACKWARD, ['[{"x", ?}, {"y", ?}]', '[{?}, {"y", ?}]']),
        (BOTH, ['[{"x", ?}, {"y", ?}]', '[{"x", ?}, {"y", ?}]']),
        (NONE, ['[{"x", ?}, {?}]', '[{?}, {"y", ?}]']),
    ],
)
def test_axes_propagate_only_from_the_source_tensors_of_a_direction(
    direction: PropagationDirection, after: list[str]
) -> None:
    assert basic(NEGATE, '[{"x", ?}, {?}]', '[{?}, {"y", ?}]', direction=direction) == after


def test_an_incompatible_target_tensor_truncates_the_list() -> None:
    before = ['[{"x", "y", ?}, {?}]', "[{?}, {?}]", '[{"x", "z", ?}, {?}]']
    assert basic(ADD, *before, direction=FORWARD) == [before[0], '[{"x", ?}, {?}]', before[2]]


# --- Conflicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "conflicting",
    [
        "[{}, {?}]",
        '[{?}, {"x", ?}]',
        '[{?}, {?}], replicated={"x"}',
        '[{?}, {?}], unreduced={"x"}',
    ],
    ids=["closed", "used by another factor", "replicated", "unreduced"],
)
def test_an_axis_that_conflicts_in_one_tensor_propagates_to_none(conflicting: str) -> None:
    before = ['[{"x"}, {}]', conflicting, "[{?}, {?}]"]
    assert basic(ADD, *before) == before


def test_two_factors_that_claim_one_axis_conflict_where_they_meet() -> None:
    # i and j meet in the result only, where "x" could shard either.
    before = ['[{"x"}, {?}]', '[{?}, {"x"}]', "[{?}, {?}]"]
    assert basic(DOT, *before) == before


def test_a_list_is_truncated_at_the_first_conflict() -> None:
    assert basic(ADD, '[{"x", "y", "z"}, {}]', '[{?}, {?}], replicated={"y"}', "[{?}, {}]") == [
        '[{"x", "y", "z"}, {}]',
        '[{"x", ?}, {?}], replicated={"y"}',
        '[{"x", ?}, {}]',
    ]


def test_of_an_axis_with_a_conflict_the_prefix_before_the_overlap_propagates() -> None:
    assert basic(NEGATE, '[{"z"}, {}]', '[{?}, {"z":(2)2}]') == ['[{"z"}, {}]', '[{"z":(1)2, ?}, {"z":(2)2}]']


def test_conservative_propagation_propagates_no_sub_axes() -> None:
    before = ['[{"z"}, {}]', '[{?}, {"z":(2)2}]']
    assert basic(NEGATE, *before, is_conservative=True) == before


# --- Sizes ----------------------------------------------------------------------------------------


def test_axes_need_not_divide_the_minor_most_factor_of_a_dimension() -> None:
    rule = read_rule("([i])->([i]) {i=3}")
    assert basic(rule, '[{"x"}]', "[{?}]") == ['[{"x"}]', '[{"x", ?}]']


def test_a_factor_that_is_not_minor_most_takes_only_a_dividing_prefix_of_an_axis() -> None:
    # Of "z", whose size is 4, only the major half divides i of size 6.
    rule = read_rule("([ij])->([i, j]) {i=6, j=2}")
    assert basic(rule, "[{?}]", '[{"z"}, {?}]') == ['[{"z":(1)2, ?}]', '[{"z"}, {?}]']


def test_a_dimension_of_two_factors_shards_both() -> None:
    # The major half of "z" shards i of size 2, and the minor half j.
    rule = read_rule("([ij])->([i, j]) {i=2, j=4}")
    assert basic(rule, '[{"z"}]', "[{?}, {?}]") == ['[{"z"}]', '[{"z":(1)2, ?}, {"z":(2)2, ?}]']


def test_overflow_axes_do_not_propagate() -> None:
    # "x" does not divide i of size 3.
    rule = read_rule("([ij])->([i, j]) {i=3, j=2}")
    assert basic(rule, '[{"x"}]', "[{?}, {?}]") == ['[{"x"}]', "[{?}, {?}]"]
