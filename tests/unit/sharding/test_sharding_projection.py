"""Projections of dimensions with several factors, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import MeshAxis, mesh
from sdyopt.mlir.dialects.sdy.rule import DimMapping, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.sharding.axis_lists import Axes
from sdyopt.shardy.sharding.sharding_projection import FactorSharding, project_tensor, unproject

MESH = mesh([MeshAxis("a", 4), MeshAxis("b", 2), MeshAxis("c", 3), MeshAxis("d", 6)])
NAME = SymbolRef("mesh")
A, B, C, D = (AxisRef(name) for name in "abcd")


def part(name: str, pre_size: int, size: int) -> AxisRef:
    return AxisRef(name, SubAxis(pre_size, size))


def factors(axes: Axes, *sizes: int) -> dict[int, FactorSharding]:
    """The factor shardings of an open dimension with factors of these sizes, sharded along axes."""
    mapping = TensorMapping((DimMapping(tuple(range(len(sizes)))),))
    sharding = TensorSharding(NAME, (DimensionSharding(axes, False),))
    return project_tensor(mapping, sharding, sizes, MESH).factors


@pytest.mark.parametrize(
    ("axes", "sizes", "expected"),
    [
        ((A, B), (8, 2), [(A, B), ()]),
        ((A, B), (4, 4), [(A,), (B,)]),
        ((A, B), (2, 8), [(part("a", 1, 2),), (part("a", 2, 2), B)]),
        ((D,), (2, 3), [(part("d", 1, 2),), (part("d", 2, 3),)]),
        ((B,), (1, 4), [(), (B,)]),
    ],
)
def test_factors_take_axes_until_they_are_fully_sharded(
    axes: Axes, sizes: tuple[int, ...], expected: list[Axes]
) -> None:
    projected = factors(axes, *sizes)
    assert [projected[factor].axes for factor in range(len(sizes))] == expected


def test_the_minor_most_factor_takes_axes_that_do_not_divide_it() -> None:
    assert factors((B, C), 2, 4)[1] == FactorSharding((C,), False, True)


def test_axes_that_do_not_divide_another_factor_overflow() -> None:
    projected = factors((C, B), 4, 4)
    assert projected[0] == FactorSharding((), False, False, (C, B))
    assert projected[1] == FactorSharding((), True, True)


def test_a_missing_sharding_is_open_by_default() -> None:
    mapping = TensorMapping((DimMapping((0,)), DimMapping((1,))))
    assert project_tensor(mapping, None, (2, 2), MESH).factors == {0: FactorSharding(), 1: FactorSharding()}
    closed = project_tensor(mapping, None, (2, 2), MESH, closed_if_missing=True)
    assert all(factor.is_closed for factor in closed.factors.values())


@st.composite
def shardings(draw: st.DrawFn) -> tuple[TensorMapping, tuple[int, ...], TensorSharding]:
    """The factors of a tensor, their sizes, and a sharding of the tensor."""
    axes = draw(st.permutations([A, B, C, D]))
    sizes: list[int] = []
    mappings, dims = [], []
    for _ in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 3))
        mappings.append(DimMapping(tuple(range(len(sizes), len(sizes) + count))))
        sizes += [draw(st.integers(1, 24)) for _ in range(count)]
        count = draw(st.integers(0, len(axes)))
        dims.append(DimensionSharding(tuple(axes[:count]), draw(st.booleans())))
        axes = axes[count:]
    sharding = TensorSharding(NAME, tuple(dims), tuple(axes[:1]))
    return TensorMapping(tuple(mappings)), tuple(sizes), sharding


@given(shardings())
def test_projecting_and_unprojecting_keeps_the_axes(
    case: tuple[TensorMapping, tuple[int, ...], TensorSharding],
) -> None:
    mapping, sizes, sharding = case
    projection = project_tensor(mapping, sharding, sizes, MESH)
    back = unproject(projection, mapping, sizes, NAME, MESH)
    assert [dim.axes for dim in back.dims] == [dim.axes for dim in sharding.dims]
    assert back.replicated_axes == sharding.replicated_axes
