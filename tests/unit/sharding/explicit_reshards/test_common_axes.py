"""What operands and results agree on: examples of each way, and what holds of every agreement."""

from hypothesis import given
from hypothesis import strategies as st

from sdyopt.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.dialects.sdy.mesh import MeshAxis, mesh
from sdyopt.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.ir.attribute import SymbolRef
from sdyopt.sharding.axis_lists import Axes, overlap
from sdyopt.sharding.explicit_reshards.axis_assignment import assign_axes_to_factors
from sdyopt.sharding.explicit_reshards.common_axes import already_common_axes, find_common_axes
from sdyopt.sharding.sharding_projection import project

MESH = mesh([MeshAxis("x", 4), MeshAxis("y", 2), MeshAxis("z", 4)])
NAME = SymbolRef("mesh")
X, Y, Z = (AxisRef(name) for name in "xyz")
Z_MAJOR, Z_MINOR = AxisRef("z", SubAxis(1, 2)), AxisRef("z", SubAxis(2, 2))


def tensor(*dims: tuple[int, ...]) -> TensorMapping:
    return TensorMapping(tuple([DimMapping(factors) for factors in dims]))


def sharding(*dims: Axes) -> TensorSharding:
    return TensorSharding(NAME, tuple([DimensionSharding(axes) for axes in dims]))


# ([i, k], [k, j])->([i, j])
PRODUCT = OpShardingRule(
    (8, 16, 32), (tensor((0,), (2,)), tensor((2,), (1,))), (tensor((0,), (1,)),), reduction=(2,)
)
PRODUCT_SIZES = (8 * 32, 32 * 16, 8 * 16)
# ([i, j], [i, j])->([i, j])
SUM = OpShardingRule((8, 16), (tensor((0,), (1,)),) * 2, (tensor((0,), (1,)),))
# ([i, j])->([i, j]), and with all of j needed everywhere
COPY = OpShardingRule((8, 16), (tensor((0,), (1,)),), (tensor((0,), (1,)),))
WHOLE_ROWS = OpShardingRule((8, 16), (tensor((0,), (1,)),), (tensor((0,), (1,)),), need_replication=(1,))


def decide(rule: OpShardingRule, sizes: tuple[int, ...], *shardings: TensorSharding) -> list[Axes]:
    return find_common_axes(rule, project(rule, shardings, MESH), sizes, MESH)


def test_what_is_agreed_on_stays() -> None:
    assert decide(SUM, (128,) * 3, *[sharding((X,), (Y,))] * 3) == [(X,), (Y,)]


def test_most_elements_win() -> None:
    shardings = sharding((X,), (Y,)), sharding((Y,), (X,)), sharding((X,), ())
    assert decide(PRODUCT, PRODUCT_SIZES, *shardings) == [(), (X,), (Y,)]


def test_what_wins_last_goes_on_from_what_won_first() -> None:
    shardings = sharding((X, Y), ()), sharding((X, Z), ()), sharding((X,), ())
    assert decide(SUM, (128,) * 3, *shardings) == [(X, Z), ()]


def test_losers_keep_what_comes_before_the_overlap() -> None:
    shardings = sharding((Z_MINOR,), ()), sharding((), (Z,)), sharding((Z_MINOR,), ())
    assert decide(SUM, (128,) * 3, *shardings) == [(Z_MINOR,), (Z_MAJOR,)]


def test_of_two_the_one_in_more_parts_stays() -> None:
    assert decide(COPY, (128, 128), sharding((Y,), ()), sharding((), (X,))) == [(), (X,)]
    assert decide(COPY, (128, 128), sharding((X,), ()), sharding((), (Y,))) == [(X,), ()]


def test_axes_of_what_has_to_be_whole_are_handed_on() -> None:
    assert decide(WHOLE_ROWS, (128, 128), *[sharding((X,), (Y,))] * 2) == [(X, Y), ()]
    # 8 rows in 8 parts cannot be split further.
    assert decide(WHOLE_ROWS, (128, 128), *[sharding((X, Y), (Z,))] * 2) == [(X, Y), ()]


def test_a_factor_waits_for_those_before_it() -> None:
    joined = OpShardingRule((2, 8), (tensor((0, 1)),), (tensor((0,), (1,)),))
    tensors = project(joined, [sharding(()), sharding((), (X,))], MESH)
    assert assign_axes_to_factors(joined, tensors, (16, 16), MESH) == [(), ()]
    tensors = project(joined, [sharding(()), sharding((Y,), (X,))], MESH)
    assert assign_axes_to_factors(joined, tensors, (16, 16), MESH) == [(Y,), (X,)]


AXES = st.lists(st.sampled_from([X, Y, Z_MAJOR, Z_MINOR]), unique=True)


@st.composite
def matrices(draw: st.DrawFn) -> TensorSharding:
    """A sharding of two dimensions."""
    axes = draw(AXES)
    count = draw(st.integers(0, len(axes)))
    return sharding(tuple(axes[:count]), tuple(axes[count:]))


@given(st.tuples(matrices(), matrices(), matrices()), st.sampled_from([PRODUCT, SUM]))
def test_agreement_is_one(found: tuple[TensorSharding, ...], rule: OpShardingRule) -> None:
    tensors = project(rule, found, MESH)
    axes = find_common_axes(rule, tensors, (16, 16, 16), MESH)
    for factor, in_use in enumerate(axes):
        assert not any(overlap(in_use, other) for other in axes[:factor])
        # Nothing is invented: some tensor was split so, or further.
        wanted = [tensor.factors[factor].axes for tensor in tensors if factor in tensor.factors]
        assert any(names(in_use) == names(other)[: len(in_use)] for other in wanted)
    for tensor in tensors:
        for factor in tensor.factors:
            tensor.set_axes(factor, axes[factor])
    assert already_common_axes(rule, tensors) == axes


def names(axes: Axes) -> list[str]:
    return [axis.name for axis in axes]
