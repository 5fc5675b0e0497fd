"""Common axes of operands and results: examples of each case, and properties of all results."""

from hypothesis import given
from hypothesis import strategies as st

from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import MeshAxis, mesh
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.sharding.axis_lists import Axes, overlap
from sdyopt.shardy.sharding.explicit_reshards.common_axes import (
    already_common_axes,
    assign_axes_to_factors,
    find_common_axes,
)
from sdyopt.shardy.sharding.sharding_projection import project

MESH = mesh([MeshAxis("x", 4), MeshAxis("y", 2), MeshAxis("z", 4)])
NAME = SymbolRef("mesh")
X, Y, Z = (AxisRef(name) for name in "xyz")
Z_MAJOR, Z_MINOR = AxisRef("z", SubAxis(1, 2)), AxisRef("z", SubAxis(2, 2))


def tensor(*dims: tuple[int, ...]) -> TensorMapping:
    return TensorMapping(tuple([DimMapping(factors) for factors in dims]))


def sharding(*dims: Axes) -> TensorSharding:
    return TensorSharding(NAME, tuple([DimensionSharding(axes) for axes in dims]))


# ([i, k], [k, j])->([i, j])
DOT = OpShardingRule(
    (8, 16, 32), (tensor((0,), (2,)), tensor((2,), (1,))), (tensor((0,), (1,)),), reduction=(2,)
)
DOT_SIZES = (8 * 32, 32 * 16, 8 * 16)
# ([i, j], [i, j])->([i, j])
ADD = OpShardingRule((8, 16), (tensor((0,), (1,)),) * 2, (tensor((0,), (1,)),))
# ([i, j])->([i, j]), without and with need_replication={j}
COPY = OpShardingRule((8, 16), (tensor((0,), (1,)),), (tensor((0,), (1,)),))
REPLICATED_COLUMNS = OpShardingRule(
    (8, 16), (tensor((0,), (1,)),), (tensor((0,), (1,)),), need_replication=(1,)
)


def common_axes(rule: OpShardingRule, sizes: tuple[int, ...], *shardings: TensorSharding) -> list[Axes]:
    return find_common_axes(rule, project(rule, shardings, MESH), sizes, MESH)


def test_compatible_shardings_are_kept() -> None:
    assert common_axes(ADD, (128,) * 3, *[sharding((X,), (Y,))] * 3) == [(X,), (Y,)]


def test_the_axes_that_shard_the_most_elements_win() -> None:
    shardings = sharding((X,), (Y,)), sharding((Y,), (X,)), sharding((X,), ())
    assert common_axes(DOT, DOT_SIZES, *shardings) == [(), (X,), (Y,)]


def test_a_factor_can_be_assigned_more_axes_later() -> None:
    shardings = sharding((X, Y), ()), sharding((X, Z), ()), sharding((X,), ())
    assert common_axes(ADD, (128,) * 3, *shardings) == [(X, Z), ()]


def test_other_factors_keep_the_prefix_without_overlap() -> None:
    shardings = sharding((Z_MINOR,), ()), sharding((), (Z,)), sharding((Z_MINOR,), ())
    assert common_axes(ADD, (128,) * 3, *shardings) == [(Z_MINOR,), (Z_MAJOR,)]


def test_of_two_tensors_the_one_with_more_shards_is_kept() -> None:
    assert common_axes(COPY, (128, 128), sharding((Y,), ()), sharding((), (X,))) == [(), (X,)]
    assert common_axes(COPY, (128, 128), sharding((X,), ()), sharding((), (Y,))) == [(X,), ()]


def test_axes_of_replicated_factors_are_redistributed() -> None:
    assert common_axes(REPLICATED_COLUMNS, (128, 128), *[sharding((X,), (Y,))] * 2) == [(X, Y), ()]
    # A factor of size 8 with 8 shards has no capacity left.
    assert common_axes(REPLICATED_COLUMNS, (128, 128), *[sharding((X, Y), (Z,))] * 2) == [(X, Y), ()]


def test_a_factor_is_blocked_until_those_before_it_are_fully_sharded() -> None:
    joined = OpShardingRule((2, 8), (tensor((0, 1)),), (tensor((0,), (1,)),))
    tensors = project(joined, [sharding(()), sharding((), (X,))], MESH)
    assert assign_axes_to_factors(joined, tensors, (16, 16), MESH) == [(), ()]
    tensors = project(joined, [sharding(()), sharding((Y,), (X,))], MESH)
    assert assign_axes_to_factors(joined, tensors, (16, 16), MESH) == [(Y,), (X,)]


AXES = st.lists(st.sampled_from([X, Y, Z_MAJOR, Z_MINOR]), unique=True)


@st.composite
def matrices(draw: st.DrawFn) -> TensorSharding:
    """The sharding of a matrix."""
    axes = draw(AXES)
    count = draw(st.integers(0, len(axes)))
    return sharding(tuple(axes[:count]), tuple(axes[count:]))


@given(st.tuples(matrices(), matrices(), matrices()), st.sampled_from([DOT, ADD]))
def test_common_axes_are_compatible(shardings: tuple[TensorSharding, ...], rule: OpShardingRule) -> None:
    tensors = project(rule, shardings, MESH)
    axes = find_common_axes(rule, tensors, (16, 16, 16), MESH)
    for factor, factor_axes in enumerate(axes):
        assert not any(overlap(factor_axes, other) for other in axes[:factor])
        # Some tensor has these axes, or more.
        candidates = [tensor.factors[factor].axes for tensor in tensors if factor in tensor.factors]
        assert any(names(factor_axes) == names(other)[: len(factor_axes)] for other in candidates)
    for tensor in tensors:
        for factor in tensor.factors:
            tensor.set_axes(factor, axes[factor])
    assert already_common_axes(rule, tensors) == axes


def names(axes: Axes) -> list[str]:
    return [axis.name for axis in axes]
