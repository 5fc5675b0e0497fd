"""Meshes, shardings and sharding rules."""

import pytest

from sdyopt.mlir.dialects.sdy.axes import AxisRef, ManualAxes, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis, are_there_single_devices, mesh, mesh_problem
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.rule import factor_symbol
from sdyopt.mlir.dialects.sdy.sharding import (
    DimensionSharding,
    TensorSharding,
    are_there_unreduced_axes,
    fully_replicated,
    sharding_text,
    without_manual_axes,
)
from sdyopt.mlir.dialects.sdy.sharding_checks import sharding_problem
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.types import DYNAMIC, F32, I32, TupleType, Type, UnrankedTensor, tensor

X, Y, Z = AxisRef("x"), AxisRef("y"), AxisRef("z")
MESH = mesh([MeshAxis("x", 2), MeshAxis("y", 4), MeshAxis("z", 2)])
NAME = SymbolRef("mesh")


def sharding(
    *dims: DimensionSharding,
    replicated_axes: tuple[AxisRef, ...] = (),
    unreduced_axes: tuple[AxisRef, ...] = (),
    reduction: ReductionKind = ReductionKind.SUM,
) -> TensorSharding:
    return TensorSharding(NAME, dims, replicated_axes, unreduced_axes, reduction)


def dim(*axes: AxisRef, is_closed: bool = True, priority: int | None = None) -> DimensionSharding:
    return DimensionSharding(axes, is_closed, priority)


# --- Meshes ---------------------------------------------------------------------------------------


def test_iota_device_ids_are_left_out() -> None:
    axes = [MeshAxis("x", 2), MeshAxis("y", 2)]
    assert mesh(axes, [0, 1, 2, 3]) is mesh(axes)
    assert mesh(axes, [0, 1, 3, 2]).device_ids == (0, 1, 3, 2)
    assert mesh([], [0]).is_maximal
    # Too few device ids are kept, and are an error.
    assert mesh_problem(mesh(axes, [0, 1])) is not None


def test_a_mesh_without_axes_is_empty_or_has_one_device() -> None:
    assert Mesh().is_empty
    assert not Mesh().is_maximal
    assert Mesh((), (3,)).is_maximal
    assert not Mesh((), (3,)).is_empty
    assert not mesh([MeshAxis("x", 1)]).is_maximal


def test_the_total_size_is_the_product_of_the_axis_sizes() -> None:
    assert MESH.total_size == 2 * 4 * 2


def test_the_position_of_an_unknown_axis_is_after_all_others() -> None:
    assert MESH.axis_position("z") == 2
    assert MESH.axis_position("w") == 3


# --- Shardings ------------------------------------------------------------------------------------


def test_shardings_with_the_same_axes_in_their_dimensions_are_equivalent() -> None:
    one = sharding(dim(X), dim())
    assert one.is_equivalent(sharding(dim(X, is_closed=False), dim(priority=1), replicated_axes=(Y,)))
    assert not one.is_equivalent(sharding(dim(), dim(X)))
    assert not one.is_equivalent(one.with_mesh(MESH))
    assert not one.is_equivalent(None)
    assert sharding(dim()).is_equivalent(None)
    # Fully replicated shardings are equivalent on any mesh.
    assert sharding(dim()).is_equivalent(fully_replicated(1, MESH, is_closed=False))


def test_closing_keeps_priorities_and_unreduced_axes() -> None:
    opened = sharding(dim(X, is_closed=False, priority=2), replicated_axes=(Y,), unreduced_axes=(Z,))
    assert opened.closed() is sharding(dim(X, priority=2), unreduced_axes=(Z,))
    assert opened.closed().is_fully_closed
    assert dim(X).opened() is dim(X, is_closed=False)


def test_text_of_a_sharding() -> None:
    sub_axis = AxisRef("y", SubAxis(2, 2))
    one = TensorSharding(MESH, (dim(X, sub_axis, is_closed=False, priority=0), dim()), (Z,), ())
    assert sharding_text(one) == '<mesh<["x"=2, "y"=4, "z"=2]>, [{"x", "y":(2)2, ?}p0, {}], replicated={"z"}>'


def test_manual_axes_are_removed_from_the_front() -> None:
    outside = sharding(dim(X, Y, is_closed=False), dim(Z, priority=1), replicated_axes=(), unreduced_axes=())
    assert without_manual_axes(outside, ManualAxes(("x",))) is sharding(
        dim(Y, is_closed=False), dim(Z, priority=1)
    )
    assert without_manual_axes(outside, ManualAxes()) is outside
    replicated = sharding(dim(X), replicated_axes=(Y, Z))
    assert without_manual_axes(replicated, ManualAxes(("x", "y"))) is sharding(dim(), replicated_axes=(Z,))


@pytest.mark.parametrize(
    ("one", "type", "problem"),
    [
        (sharding(dim(X), dim()), tensor((8, 8), F32), None),
        (sharding(dim(Y), dim()), tensor((7, DYNAMIC), F32), None),
        (sharding(), I32, None),
        (sharding(dim()), TupleType((tensor((8,), F32),)), None),
        (sharding(), UnrankedTensor(F32), "only ranked tensors can have a sharding"),
        (sharding(dim()), tensor((), F32), "sharding doesn't match tensor rank: 1 != 0"),
        (sharding(dim(AxisRef("w"))), tensor((8,), F32), 'unknown axis name: "w"'),
        (sharding(dim(X), unreduced_axes=(X,)), tensor((8,), F32), 'duplicate axis ref: "x"'),
        (sharding(dim(priority=-1)), tensor((8,), F32), "dim 0 has a negative priority"),
    ],
)
def test_problems_of_a_sharding_for_a_type(one: TensorSharding, type: Type, problem: str | None) -> None:
    actual = sharding_problem(one, type, MESH)
    assert (actual is None) if problem is None else (actual is not None and actual.startswith(problem))


def test_divisibility_is_optional() -> None:
    assert sharding_problem(sharding(dim(Y)), tensor((6,), F32), MESH) is None
    assert (
        sharding_problem(sharding(dim(Y)), tensor((6,), F32), MESH, must_divide=True)
        == "dim 0 with size 6 is not divisible by its sharded size 4"
    )
    assert sharding_problem(sharding(dim(Y)), tensor((DYNAMIC,), F32), MESH, must_divide=True) is None


# --- Rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("factor", "symbol"), [(0, "i"), (17, "z"), (18, "z_1"), (117, "z_100")])
def test_factor_symbols_are_letters_from_i_and_then_numbered(factor: int, symbol: str) -> None:
    assert factor_symbol(factor) == symbol


# --- What any program has -------------------------------------------------------------------------


def test_unreduced_axes_and_single_devices_are_there_while_they_exist() -> None:
    unreduced, device = sharding(dim(X), unreduced_axes=(Y,)), mesh([], [7])
    assert unreduced.unreduced_axes and device.is_maximal
    assert are_there_unreduced_axes()
    assert are_there_single_devices()
