"""The factors of a reshape: the product in each dimension is its size, and common factors keep strides.

A permutation factor has the size of the operand's dimension, so the former need not hold for the result.
Factors have types since jaxlib 0.12.0.1.
"""

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from sdyopt.base.releases import following
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import F32, tensor
from sdyopt.shardy.sharding.op_sharding_rule_builder import OpShardingRuleBuilder
from sdyopt.shardy.sharding.rules.slicing import reshape

Shape = tuple[int, ...]


@st.composite
def shape_pairs(draw: st.DrawFn) -> tuple[Shape, Shape]:
    """Two shapes with the same number of elements: one list of primes, grouped in two ways, with 1s."""
    primes = draw(st.lists(st.sampled_from([2, 2, 3, 5]), max_size=7))
    return _grouped(draw, primes), _grouped(draw, primes)


def _grouped(draw: st.DrawFn, primes: list[int]) -> Shape:
    remaining, sizes = draw(st.permutations(primes)), []
    while remaining:
        count = draw(st.integers(0, len(remaining)))
        sizes.append(prod(remaining[:count]))
        remaining = remaining[count:]
    return tuple(sizes)


def rule_of(before: Shape, after: Shape) -> OpShardingRule:
    types = (tensor(before, F32),), (tensor(after, F32),)
    builder = OpShardingRuleBuilder(*types)
    assert reshape(OpSignature(ReshapeOp, ReshapeOp.name, EMPTY_DICT, *types), builder) is None
    return builder.build()


def strides(rule: OpShardingRule, tensor_mapping: TensorMapping) -> dict[int, tuple[int, int]]:
    """For each factor, the products of the sizes of the factors before it, and of the factors from it on."""
    factors = [factor for dim in tensor_mapping.dims for factor in dim.factors]
    sizes = [rule.factor_sizes[factor] for factor in factors]
    return {factor: (prod(sizes[:n]), prod(sizes[n:])) for n, factor in enumerate(factors)}


def untyped_rule_of(before: Shape, after: Shape) -> OpShardingRule:
    with following("jaxlib-0.11.2"):
        return rule_of(before, after)


@given(shape_pairs())
def test_the_product_of_factors_is_the_dimension_size(shapes: tuple[Shape, Shape]) -> None:
    for rule in (rule_of(*shapes), untyped_rule_of(*shapes)):
        for shape, mapping in zip(shapes, rule.tensors, strict=True):
            for size, dim in zip(shape, mapping.dims, strict=True):
                if mapping in rule.operands or not set(dim.factors) & set(rule.permutation):
                    assert prod(rule.factor_sizes[factor] for factor in dim.factors) == size


@given(shape_pairs())
def test_common_factors_have_the_same_stride(shapes: tuple[Shape, Shape]) -> None:
    rule = untyped_rule_of(*shapes)
    before, after = (strides(rule, mapping) for mapping in rule.tensors)
    for factor in before.keys() & after.keys():
        assert before[factor] == after[factor]


@given(shape_pairs())
def test_only_pass_through_and_permutation_factors_are_common(shapes: tuple[Shape, Shape]) -> None:
    rule, untyped = rule_of(*shapes), untyped_rule_of(*shapes)
    common = common_factors(rule)
    assert set(rule.need_replication) == set(range(len(rule.factor_sizes))) - set(common)
    assert set(rule.permutation) <= set(common)
    pass_through = [factor for factor in common if factor not in rule.permutation]
    assert sizes_of(rule, pass_through) == sizes_of(untyped, common_factors(untyped))


def common_factors(rule: OpShardingRule) -> list[int]:
    before, after = (strides(rule, mapping) for mapping in rule.tensors)
    return sorted(before.keys() & after.keys())


def sizes_of(rule: OpShardingRule, factors: list[int]) -> list[int]:
    return [rule.factor_sizes[factor] for factor in factors]


@given(st.lists(st.integers(2, 9), max_size=4).map(tuple))
def test_equal_shapes_have_only_common_factors(shape: Shape) -> None:
    rule = rule_of(shape, shape)
    assert rule.operands == rule.results
    assert rule.factor_sizes == shape
