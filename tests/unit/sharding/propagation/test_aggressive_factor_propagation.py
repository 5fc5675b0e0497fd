"""The aggressive strategy: resolves the conflicts of each tensor by an order of preference."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.shardy.sharding.propagation.basic_factor_propagation import propagate_aggressive, propagate_basic
from tests.unit.sharding.notation import read_mesh, read_rule
from tests.unit.sharding.propagation.strategies import propagate

MESH = read_mesh('"x"=2, "y"=2, "z"=4')
ADD = read_rule("([i, j], [i, j])->([i, j]) {i=8, j=8}")
DOT = read_rule("([i, k], [k, j])->([i, j]) {i=4, j=16, k=8} reduction={k}")


def aggressive(rule: OpShardingRule, *shardings: str, is_elementwise: bool = False) -> list[str]:
    return propagate(propagate_aggressive, rule, MESH, list(shardings), is_elementwise=is_elementwise)


def test_a_conflict_affects_its_own_tensor_only() -> None:
    before = ['[{"x"}, {?}]', "[{}, {?}]", "[{?}, {?}]"]
    assert propagate(propagate_basic, ADD, MESH, before) == before
    assert aggressive(ADD, *before) == ['[{"x"}, {?}]', "[{}, {?}]", '[{"x", ?}, {?}]']


# --- Which of two factors gets an axis ------------------------------------------------------------


def test_the_factor_of_the_larger_tensor_is_preferred() -> None:
    # The left operand has 4x8 elements, the right one 8x16.
    assert aggressive(DOT, '[{"x"}, {?}]', '[{?}, {"x"}]', "[{?}, {?}]")[2] == '[{?}, {"x", ?}]'


def test_of_tensors_of_one_size_the_earlier_is_preferred() -> None:
    assert aggressive(ADD, '[{"x"}, {?}]', '[{?}, {"x"}]', "[{?}, {?}]")[2] == '[{"x", ?}, {?}]'


def test_elementwise_the_larger_sharded_size_is_preferred_to_the_earlier_tensor() -> None:
    before = ['[{"x"}, {?}]', '[{?}, {"x", "y"}]', "[{?}, {?}]"]
    assert aggressive(ADD, *before, is_elementwise=True)[2] == '[{?}, {"x", "y", ?}]'
    assert aggressive(ADD, *before)[2] == '[{"x", ?}, {?}]'


def test_the_other_factor_takes_the_axes_before_the_conflict() -> None:
    before = ['[{"x"}, {?}]', '[{?}, {"y", "x"}]', "[{?}, {?}]"]
    assert aggressive(ADD, *before)[2] == '[{"x", ?}, {"y", ?}]'


# --- From operand to operand ----------------------------------------------------------------------


def test_elementwise_axes_propagate_between_operands_only_if_the_results_have_them() -> None:
    before = ['[{"x"}, {}]', "[{?}, {?}]", "[{}, {?}]"]
    assert aggressive(ADD, *before, is_elementwise=True) == before
    assert aggressive(ADD, *before) == ['[{"x"}, {}]', '[{"x", ?}, {?}]', "[{}, {?}]"]


def test_results_take_axes_before_operands() -> None:
    # The result takes "x", so the right operand may have it as well.
    before = ['[{"x"}, {}]', "[{?}, {?}]", "[{?}, {?}]"]
    after = ['[{"x"}, {}]', '[{"x", ?}, {?}]', '[{"x", ?}, {?}]']
    assert aggressive(ADD, *before, is_elementwise=True) == after


def test_nothing_to_propagate_changes_nothing() -> None:
    before = ["[{?}, {}]", '[{?}, {?}], replicated={"x"}', "[{?}, {?}]"]
    assert aggressive(ADD, *before) == before
