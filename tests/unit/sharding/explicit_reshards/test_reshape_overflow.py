"""Reshapes with overflow axes: axes beyond the size of a factor, redistributed to the factors after it."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import find_common_reshape_axes, has_overflow
from sdyopt.shardy.sharding.sharding_projection import unproject
from tests.unit.sharding.explicit_reshards.examples import by_factor, project_all
from tests.unit.sharding.notation import read_mesh, read_rule, write_sharding

MESH = read_mesh('"x"=4, "y"=3, "z"=2, "w"=5')
NAME = SymbolRef("mesh")
SPLIT = read_rule("([ij])->([i, j]) {i=3, j=4}")


def common(rule: OpShardingRule, *shardings: str) -> tuple[dict[str, str], list[str]]:
    """The common axes of each factor, and the shardings of operand and result that have them."""
    tensors = project_all(rule, MESH, shardings)
    axes = find_common_reshape_axes(rule, tensors, NAME, MESH)
    assert not any(map(has_overflow, tensors))
    after = [
        write_sharding(unproject(tensor, mapping, rule.factor_sizes, NAME, MESH))
        for tensor, mapping in zip(tensors, rule.tensors, strict=True)
    ]
    return by_factor(axes), after


def overflows(*shardings: str) -> list[bool]:
    return [has_overflow(tensor) for tensor in project_all(SPLIT, MESH, shardings)]


def test_an_axis_overflows_a_factor_that_it_does_not_divide() -> None:
    assert overflows('[{"x"}]', '[{}, {"x"}]') == [True, False]


def test_an_axis_that_follows_a_fully_sharded_factor_does_not_overflow() -> None:
    assert overflows('[{"y", "x"}]', '[{"y"}, {"x"}]') == [False, False]


def test_an_axis_after_an_overflow_axis_overflows_as_well() -> None:
    # "y" divides i, but comes after "x".
    assert overflows('[{"x", "y"}]', '[{"y"}, {"x"}]') == [True, False]


def test_overflow_axes_shard_the_factors_in_another_order() -> None:
    # Of "x", "y" the first factor i takes "y", and j takes "x".
    factors, after = common(SPLIT, '[{"x", "y"}]', "[{}, {}]")
    assert factors == {"i": '"y"', "j": '"x"'}
    assert after == ['[{"y", "x"}]', '[{"y"}, {"x"}]']


def test_the_tensor_with_more_shards_decides() -> None:
    # 4 shards in the operand, 6 in the result.
    factors, after = common(SPLIT, '[{"x"}]', '[{"y"}, {"z"}]')
    assert factors == {"i": '"y"', "j": '"z"'}
    assert after == ['[{"y", "z"}]', '[{"y"}, {"z"}]']


def test_axes_of_a_factor_after_one_that_is_not_sharded_are_dropped() -> None:
    # "x" has capacity in j only, but the shards of the operand would not be contiguous.
    factors, after = common(SPLIT, '[{"x"}]', "[{}, {}]")
    assert factors == {"i": "", "j": ""}
    assert after == ["[{}]", "[{}, {}]"]
    merge = read_rule("([i, j])->([ij]) {i=3, j=4}")
    assert common(merge, "[{}, {}]", '[{"x"}]') == ({"i": "", "j": ""}, ["[{}, {}]", "[{}]"])


def test_axes_without_capacity_in_any_factor_are_dropped() -> None:
    # 5 divides neither 3 nor 4.
    assert common(SPLIT, '[{"w"}]', "[{}, {}]") == ({"i": "", "j": ""}, ["[{}]", "[{}, {}]"])


def test_axes_beyond_all_capacities_are_axes_of_the_last_factor() -> None:
    # i is fully sharded along "y"; "w" follows it in the operand, and pads j in the result.
    factors, after = common(SPLIT, '[{"y", "w"}]', "[{}, {}]")
    assert factors == {"i": '"y"', "j": '"w"'}
    assert after == ['[{"y", "w"}]', '[{"y"}, {"w"}]']
