"""The alternatives of a conflict: the common axes if another candidate were assigned first."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.shardy.sharding.axis_lists import Axes
from sdyopt.shardy.sharding.explicit_reshards.common_axes import Alternative, alternatives
from tests.unit.sharding.explicit_reshards.examples import by_factor, project_all, tensor_sizes
from tests.unit.sharding.notation import read_mesh, read_rule, write_axes

MESH = read_mesh('"x"=2, "y"=2, "z"=2')
ADD = read_rule("([i, j], [i, j])->([i, j]) {i=8, j=8}")


def found(
    rule: OpShardingRule, *shardings: str, axes_in_conflict: Axes = ()
) -> list[tuple[str, dict[str, str]]]:
    """The candidate of each alternative, and the axes of each factor."""
    tensors = project_all(rule, MESH, shardings)
    return [
        (f"{chr(ord('i') + each.factor)}={write_axes(each.factor_axes)}", by_factor(list(each.axes)))
        for each in alternatives(rule, tensors, tensor_sizes(rule), MESH, axes_in_conflict)
    ]


def test_compatible_shardings_have_no_alternatives() -> None:
    assert found(ADD, '[{"x"}, {}]', '[{"x"}, {}]', '[{"x"}, {}]') == []


def test_the_chosen_alternative_comes_first() -> None:
    assert found(ADD, '[{"x"}, {}]', '[{"x"}, {}]', '[{}, {"x"}]') == [
        ('i="x"', {"i": '"x"', "j": ""}),
        ('j="x"', {"i": "", "j": '"x"'}),
    ]


def test_a_factor_that_depends_on_another_is_not_assigned_first() -> None:
    # Operand 0 shards j along "x", but j gets no axes until i, which is major, is fully sharded.
    rule = read_rule("([ij], [k])->([i, j, k]) {i=2, j=8, k=8}")
    assert found(rule, '[{"y", "x"}]', '[{"x"}]', '[{"y"}, {}, {"x"}]') == [
        ('i="y"', {"i": '"y"', "j": "", "k": '"x"'})
    ]


def first(rule: OpShardingRule, *shardings: str, axes_in_conflict: Axes = ()) -> Alternative:
    tensors = project_all(rule, MESH, shardings)
    return alternatives(rule, tensors, tensor_sizes(rule), MESH, axes_in_conflict)[0]


def test_of_several_winners_the_one_with_more_elements_decides() -> None:
    # "y" wins factor j in three tensors of 64 elements, "x" factor i in two; k has lost "x".
    rule = read_rule("([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=4, k=4}")
    shardings = '[{"x"}, {"y"}, {}]', '[{"x"}, {"y"}, {}]', '[{}, {"y"}, {"x"}]'
    x, y = (AxisRef("x"),), (AxisRef("y"),)
    assert first(rule, *shardings) == Alternative((x, y, ()), 1, y, 192)
    assert first(rule, *shardings, axes_in_conflict=x) == Alternative((x, y, ()), 0, x, 128)


def test_no_candidate_decides_if_the_factor_must_be_replicated() -> None:
    rule = read_rule("([i])->([i]) {i=8} need_replication={i}")
    assert first(rule, '[{"x"}]', "[{}]") == Alternative(((),), -1, (), 0)


def test_candidates_after_one_that_cannot_be_assigned_first_are_alternatives() -> None:
    # "x" for j is not assigned first, as above; "z" for k shards fewer elements.
    rule = read_rule("([ij], [k])->([i, j, k]) {i=2, j=8, k=8}")
    *_, last = found(rule, '[{"y", "x"}]', '[{"z"}]', '[{"y"}, {}, {"x"}]')
    assert last[0] == 'k="z"'
