"""Building rules: any factors make a rule that the verifier accepts."""

from hypothesis import given
from hypothesis import strategies as st

from sdyopt.mlir.dialects.sdy.attribute_checks import rule_problem
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.stablehlo.types import TokenType
from sdyopt.mlir.ir.types import F32, tensor
from sdyopt.shardy.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder

SHAPES = st.lists(st.integers(1, 8), max_size=5).map(tuple)


def product() -> OpShardingRuleBuilder:
    """A builder for the matrix product of 8x32 and 32x16, without factors."""
    return OpShardingRuleBuilder([tensor((8, 32), F32), tensor((32, 16), F32)], [tensor((8, 16), F32)])


def test_factors_are_in_the_order_of_the_calls() -> None:
    builder = product()
    builder.add_factor(8, [0, None], [0])
    builder.add_factor(16, [None, 1], [1])
    builder.add_factor(32, [1, 0], [None], FactorType.REDUCTION)
    assert (
        OpShardingRule.assembly.text(builder.build())
        == "<([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>"
    )


def test_dimensions_without_factors_get_new_factors_at_the_end() -> None:
    builder = product()
    builder.add_factor(8, [0, None], [0])
    assert (
        OpShardingRule.assembly.text(builder.build())
        == "<([i, j], [k, l])->([i, m]) {i=8, j=1, k=1, l=1, m=1}>"
    )


def test_build_does_not_change_the_builder() -> None:
    builder = product()
    builder.add_factor(8, [0, None], [0])
    before = builder.build()
    builder.add_factor(32, [1, 0], [None], FactorType.REDUCTION)
    assert (
        OpShardingRule.assembly.text(builder.build())
        == "<([i, j], [j, k])->([i, l]) {i=8, j=32, k=1, l=1} reduction={j}>"
    )
    assert OpShardingRule.assembly.text(before) == "<([i, j], [k, l])->([i, m]) {i=8, j=1, k=1, l=1, m=1}>"


def test_factors_of_size_1_are_only_added_to_dimensions_without_factors() -> None:
    builder = OpShardingRuleBuilder([tensor((4,), F32)], [tensor((4,), F32)])
    builder.add_factor(4, [0], [None])
    builder.add_factor(1, [0], [0])
    assert OpShardingRule.assembly.text(builder.build()) == "<([i])->([j]) {i=4, j=1}>"


def test_common_factors_skip_tensors_without_the_dimension() -> None:
    builder = OpShardingRuleBuilder([tensor((8, 4), F32), tensor((), F32), TokenType()], [tensor((8,), F32)])
    builder.add_common_factor(1, 4, FactorType.PERMUTATION, is_blocked=True)
    expected = "<([j, i], [], [])->([k]) {i=4, j=1, k=1} permutation={i} blocked_propagation={i}>"
    assert OpShardingRule.assembly.text(builder.build()) == expected


def test_set_pointwise_does_not_check_ranks() -> None:
    builder = OpShardingRuleBuilder([tensor((8, 4), F32)], [tensor((8,), F32)])
    builder.set_pointwise(tensor((8,), F32))
    assert OpShardingRule.assembly.text(builder.build()) == "<([i, j])->([i]) {i=8}>"


@st.composite
def built_rules(draw: st.DrawFn) -> tuple[OpShardingRule, list[tuple[int, ...]], list[tuple[int, ...]]]:
    """A rule with random factors, and the shapes of its operands and results."""
    operands = draw(st.lists(SHAPES, min_size=1, max_size=3))
    results = draw(st.lists(SHAPES, min_size=1, max_size=2))
    builder = OpShardingRuleBuilder(
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
        builder.add_factor(
            size, dims[: len(operands)], dims[len(operands) :], factor_type, draw(st.booleans())
        )
    return builder.build(), operands, results


@given(built_rules())
def test_any_factors_make_a_rule(
    built: tuple[OpShardingRule, list[tuple[int, ...]], list[tuple[int, ...]]],
) -> None:
    rule, operands, results = built
    types = [tensor(shape, F32) for shape in operands], [tensor(shape, F32) for shape in results]
    assert rule_problem(rule, *types) is None


@given(SHAPES, st.integers(1, 3), st.integers(1, 2))
def test_pointwise_rules_have_the_same_factors_in_every_tensor(
    shape: tuple[int, ...], operand_count: int, result_count: int
) -> None:
    type = tensor(shape, F32)
    builder = OpShardingRuleBuilder([type] * operand_count, [type] * result_count)
    builder.add_pointwise(shape)
    built = builder.build()
    assert built.factor_sizes == shape
    assert len(set(built.tensors)) == 1
    other = OpShardingRuleBuilder([type] * operand_count, [type] * result_count)
    other.set_pointwise(type)
    assert other.build() is built


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=5))
def test_dimensions_that_differ_in_size_get_the_mismatch_type(sizes: list[tuple[int, int]]) -> None:
    before, after = tuple(a for a, _ in sizes), tuple(b for _, b in sizes)
    builder = OpShardingRuleBuilder([tensor(before, F32)], [tensor(after, F32)])
    builder.add_pointwise_with_type_for_mismatch(
        before, after, FactorType.PERMUTATION, is_mismatch_blocked=True
    )
    built = builder.build()
    differing = tuple(dim for dim, (a, b) in enumerate(sizes) if a != b)
    assert (built.permutation, built.blocked_propagation) == (differing, differing)
    assert built.factor_sizes == before
