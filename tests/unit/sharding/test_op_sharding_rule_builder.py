"""Building rules: whatever factors are added, the verifier of rules is content."""

from hypothesis import given
from hypothesis import strategies as st

from sdyopt.dialects.sdy.rule import OpShardingRule, rule_text
from sdyopt.dialects.sdy.rule_checks import rule_problem
from sdyopt.dialects.stablehlo.types import TokenType
from sdyopt.ir.types import F32, tensor
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder

SHAPES = st.lists(st.integers(1, 8), max_size=5).map(tuple)


def product() -> OpShardingRuleBuilder:
    """The rule of a matrix product of 8x32 and 32x16, as yet without factors."""
    return OpShardingRuleBuilder([tensor((8, 32), F32), tensor((32, 16), F32)], [tensor((8, 16), F32)])


def test_factors_have_letters_in_order() -> None:
    rule = product()
    rule.add_factor(8, [0, None], [0])
    rule.add_factor(16, [None, 1], [1])
    rule.add_factor(32, [1, 0], [None], FactorType.REDUCTION)
    assert rule_text(rule.build()) == "<([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>"


def test_dimensions_without_factors_get_their_own_at_the_end() -> None:
    rule = product()
    rule.add_factor(8, [0, None], [0])
    assert rule_text(rule.build()) == "<([i, j], [k, l])->([i, m]) {i=8, j=1, k=1, l=1, m=1}>"


def test_building_leaves_the_builder_as_it_was() -> None:
    rule = product()
    rule.add_factor(8, [0, None], [0])
    before = rule.build()
    rule.add_factor(32, [1, 0], [None], FactorType.REDUCTION)
    assert rule_text(rule.build()) == "<([i, j], [j, k])->([i, l]) {i=8, j=32, k=1, l=1} reduction={j}>"
    assert rule_text(before) == "<([i, j], [k, l])->([i, m]) {i=8, j=1, k=1, l=1, m=1}>"


def test_factors_of_one_only_go_where_there_is_nothing() -> None:
    rule = OpShardingRuleBuilder([tensor((4,), F32)], [tensor((4,), F32)])
    rule.add_factor(4, [0], [None])
    rule.add_factor(1, [0], [0])
    assert rule_text(rule.build()) == "<([i])->([j]) {i=4, j=1}>"


def test_tensors_without_the_dimension_are_left_alone() -> None:
    rule = OpShardingRuleBuilder([tensor((8, 4), F32), tensor((), F32), TokenType()], [tensor((8,), F32)])
    rule.add_common_factor(1, 4, FactorType.PERMUTATION, is_blocked=True)
    expected = "<([j, i], [], [])->([k]) {i=4, j=1, k=1} permutation={i} blocked_propagation={i}>"
    assert rule_text(rule.build()) == expected


def test_numbered_dimensions_may_lack_their_factor() -> None:
    rule = OpShardingRuleBuilder([tensor((8, 4), F32)], [tensor((8,), F32)])
    rule.set_pointwise(tensor((8,), F32))
    assert rule_text(rule.build()) == "<([i, j])->([i]) {i=8}>"


@st.composite
def built_rules(draw: st.DrawFn) -> tuple[OpShardingRule, list[tuple[int, ...]], list[tuple[int, ...]]]:
    """A rule with random factors, and the shapes of its operands and results."""
    operands = draw(st.lists(SHAPES, min_size=1, max_size=3))
    results = draw(st.lists(SHAPES, min_size=1, max_size=2))
    rule = OpShardingRuleBuilder(
        [tensor(shape, F32) for shape in operands], [tensor(shape, F32) for shape in results]
    )
    for _ in range(draw(st.integers(0, 6))):
        factor_type = draw(st.sampled_from(FactorType))
        dims = [draw(st.sampled_from([None, *range(len(shape))])) for shape in (*operands, *results)]
        if factor_type is FactorType.REDUCTION:
            dims[len(operands) :] = [None] * len(results)
        if all(dim is None for dim in dims):
            continue
        size = draw(st.integers(2, 8))
        rule.add_factor(size, dims[: len(operands)], dims[len(operands) :], factor_type, draw(st.booleans()))
    return rule.build(), operands, results


@given(built_rules())
def test_any_factors_make_a_rule(
    built: tuple[OpShardingRule, list[tuple[int, ...]], list[tuple[int, ...]]],
) -> None:
    rule, operands, results = built
    types = [tensor(shape, F32) for shape in operands], [tensor(shape, F32) for shape in results]
    assert rule_problem(rule, *types) is None


@given(SHAPES, st.integers(1, 3), st.integers(1, 2))
def test_pointwise_gives_every_tensor_the_same_factors(
    shape: tuple[int, ...], operand_count: int, result_count: int
) -> None:
    type = tensor(shape, F32)
    rule = OpShardingRuleBuilder([type] * operand_count, [type] * result_count)
    rule.add_pointwise(shape)
    built = rule.build()
    assert built.factor_sizes == shape
    assert len(set(built.tensors)) == 1
    numbered = OpShardingRuleBuilder([type] * operand_count, [type] * result_count)
    numbered.set_pointwise(type)
    assert numbered.build() is built


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=5))
def test_what_differs_in_size_is_special(sizes: list[tuple[int, int]]) -> None:
    before, after = tuple(a for a, _ in sizes), tuple(b for _, b in sizes)
    rule = OpShardingRuleBuilder([tensor(before, F32)], [tensor(after, F32)])
    rule.add_pointwise_with_type_for_mismatch(before, after, FactorType.PERMUTATION, is_blocked=True)
    built = rule.build()
    differing = tuple(dim for dim, (a, b) in enumerate(sizes) if a != b)
    assert (built.permutation, built.blocked_propagation) == (differing, differing)
    assert built.factor_sizes == before
