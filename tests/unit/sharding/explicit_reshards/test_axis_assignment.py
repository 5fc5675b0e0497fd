"""Greedy assignment of axes to factors: the best candidate first, the others truncated at overlaps."""

from __future__ import annotations

import pytest

from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.shardy.sharding.explicit_reshards.common_axes import assign_axes_to_factors
from tests.unit.sharding.explicit_reshards.examples import by_factor, project_all, tensor_sizes
from tests.unit.sharding.notation import read_mesh, read_rule

MESH = read_mesh('"x"=2, "y"=2, "z"=4')
ADD = read_rule("([i, j], [i, j])->([i, j]) {i=8, j=8}")


def assign(rule: OpShardingRule, *shardings: str) -> dict[str, str]:
    tensors = project_all(rule, MESH, shardings)
    return by_factor(assign_axes_to_factors(rule, tensors, tensor_sizes(rule), MESH))


# --- The best candidate ---------------------------------------------------------------------------


def test_the_axes_that_shard_the_most_elements_win() -> None:
    # Two tensors shard i along "x", and one shards j along it.
    assert assign(ADD, '[{"x"}, {}]', '[{"x"}, {}]', '[{}, {"x"}]') == {"i": '"x"', "j": ""}
    assert assign(ADD, '[{"x"}, {}]', '[{}, {"x"}]', '[{}, {"x"}]') == {"i": "", "j": '"x"'}


def test_a_large_tensor_counts_more_than_small_ones() -> None:
    # 8x32 and 32x16 elements in the operands, 8x16 in the result.
    dot = read_rule("([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}")
    assert assign(dot, '[{"x"}, {}]', '[{}, {"x"}]', "[{}, {}]") == {"i": "", "j": '"x"', "k": ""}
    assert assign(dot, '[{"x"}, {}]', '[{}, {"x"}]', '[{"x"}, {}]')["j"] == '"x"'


def test_a_tensor_counts_for_every_prefix_of_its_axes() -> None:
    # All three shard i along "x"; then "y" in two tensors wins over "z" in one.
    assert assign(ADD, '[{"x", "y"}, {}]', '[{"x", "z"}, {}]', '[{"x", "y"}, {}]')["i"] == '"x", "y"'
    # Two tensors shard i along "y", whatever follows it, and one shards j along it.
    assert assign(ADD, '[{"y", "x"}, {}]', '[{"y", "z"}, {}]', '[{}, {"y", "z"}]') == {
        "i": '"y", "z"',
        "j": "",
    }


def test_of_equal_weight_a_pass_through_factor_is_preferred() -> None:
    for special in ("reduction", "need_replication", "permutation"):
        rule = read_rule(f"([i, j])->([k, l]) {{i=8, j=8, k=8, l=8}} {special}={{i}}")
        assert assign(rule, '[{"x"}, {}]', "[{}, {}]")["i"] == '"x"'
        assert assign(rule, '[{"x"}, {}]', '[{"x"}, {}]') == {"i": "", "j": "", "k": '"x"', "l": ""}


@pytest.mark.parametrize(
    "factor_types",
    [
        "reduction={i} permutation={k}",
        "reduction={i} need_replication={k}",
        "need_replication={k} permutation={i}",
    ],
)
def test_a_reduction_is_preferred_to_a_permutation_and_that_to_need_replication(factor_types: str) -> None:
    rule = read_rule(f"([i, j])->([k, l]) {{i=8, j=8, k=8, l=8}} {factor_types}")
    assert assign(rule, '[{"x"}, {}]', '[{"x"}, {}]') == {"i": '"x"', "j": "", "k": "", "l": ""}


def test_of_equal_weight_and_type_the_larger_sharded_size_is_preferred() -> None:
    rule = read_rule("([i])->([j]) {i=8, j=8}")
    assert assign(rule, '[{"x", "y"}]', '[{"x"}]') == {"i": '"x", "y"', "j": ""}
    assert assign(rule, '[{"x"}]', '[{"x", "y"}]') == {"i": "", "j": '"x", "y"'}


# --- The other candidates -------------------------------------------------------------------------


def test_the_others_are_truncated_where_they_overlap() -> None:
    assert assign(ADD, '[{"x"}, {}]', '[{"x"}, {}]', '[{}, {"y", "x"}]') == {"i": '"x"', "j": '"y"'}


def test_a_sub_axis_remains_of_an_overlapping_axis() -> None:
    assert assign(ADD, '[{"z":(2)2}, {}]', '[{"z":(2)2}, {}]', '[{}, {"z"}]') == {
        "i": '"z":(2)2',
        "j": '"z":(1)2',
    }


def test_a_factor_can_be_assigned_more_axes_later() -> None:
    assert assign(ADD, '[{"x"}, {}]', '[{"x", "y"}, {}]', '[{"x"}, {"y"}]') == {"i": '"x"', "j": '"y"'}
    assert assign(ADD, '[{"x"}, {}]', '[{"x", "y"}, {}]', '[{"x"}, {"z"}]') == {"i": '"x", "y"', "j": '"z"'}


# --- Dimensions of several factors ----------------------------------------------------------------


def test_a_factor_is_blocked_until_the_factor_before_it_is_fully_sharded() -> None:
    merge = read_rule("([i, j])->([ij]) {i=2, j=8}")
    assert assign(merge, '[{}, {"z"}]', "[{}]") == {"i": "", "j": ""}
    assert assign(merge, '[{"x"}, {"z"}]', "[{}]") == {"i": '"x"', "j": '"z"'}


def test_a_partially_sharded_factor_blocks_as_well() -> None:
    merge = read_rule("([i, j])->([ij]) {i=4, j=8}")
    assert assign(merge, '[{"x"}, {"z"}]', "[{}]") == {"i": '"x"', "j": ""}


def test_without_axes_nothing_is_assigned() -> None:
    assert assign(ADD, "[{}, {}]", "[{}, {}]", "[{}, {}]") == {"i": "", "j": ""}
