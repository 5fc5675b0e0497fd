"""Meshes and shardings as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import sdyopt


def sharding(text: str, mesh: str = '["x"=2, "y"=4]', shape: str = "8x16") -> sdyopt.Sharding:
    """The sharding of an argument."""
    program = f"""
        sdy.mesh @mesh = <{mesh}>
        func.func @f(%a: tensor<{shape}xf32> {{sdy.sharding = #sdy.sharding<@mesh, {text}>}}) {{ return }}
    """
    [argument] = sdyopt.parse(program).functions["f"].arguments
    assert argument.sharding is not None
    return argument.sharding


def test_a_sharding_has_dimensions_with_axes_and_a_mesh() -> None:
    found = sharding('[{"y":(2)2, "x"}, {?}p1], replicated={"y":(1)2}')
    first, second = found.dimensions
    assert [str(axis) for axis in first.axes] == ['"y":(2)2', '"x"']
    assert [(axis.name, axis.size, axis.pre_size) for axis in first.axes] == [("y", 2, 2), ("x", 2, None)]
    assert (first.is_closed, first.priority, first.num_shards) == (True, None, 4)
    assert (second.is_closed, second.priority, second.num_shards) == (False, 1, 1)
    assert [str(dimension) for dimension in found.dimensions] == ['{"y":(2)2, "x"}', "{?}p1"]
    assert found.replicated_axes == (sdyopt.Axis("y", 2, 1),)
    assert found.unreduced_axes == ()
    assert (found.num_shards, found.is_fully_replicated) == (4, False)
    assert (found.mesh.name, found.mesh.shape, found.mesh.size) == ("mesh", {"x": 2, "y": 4}, 8)
    assert str(found.mesh) == '<["x"=2, "y"=4]>'


def test_text_of_a_sharding_and_its_parts() -> None:
    found = sharding('[{"x"}, {}], unreduced={"y"}')
    assert str(found) == '#sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>'
    assert repr(found) == f"Sharding({found})"
    assert repr(found.mesh) == 'Mesh(@mesh <["x"=2, "y"=4]>)'
    assert repr(found.dimensions[0]) == 'DimensionSharding({"x"})'


def test_equal_shardings_of_different_programs_are_equal() -> None:
    assert sharding('[{"x"}, {}]') == sharding('[{"x"}, {}]')
    assert sharding('[{"x"}, {}]') != sharding('[{"x"}, {?}]')
    assert len({sharding('[{"x"}, {}]'), sharding('[{"x"}, {}]')}) == 1


def test_spec_is_that_of_jax() -> None:
    assert sharding('[{"x", "y"}, {}]').spec == (("x", "y"), None)
    assert sharding('[{}, {"y"}]').spec == (None, "y")
    with pytest.raises(ValueError, match=r'no sub-axes such as "y":\(1\)2'):
        _ = sharding('[{"y":(1)2}, {}]').spec


def test_local_shapes_are_rounded_up() -> None:
    found = sharding('[{"y"}, {"x"}]')
    assert found.local_shape((10, 16)) == (3, 8)
    assert found.local_shape((None, 16)) == (None, 8)
    with pytest.raises(ValueError, match=r"a sharding of rank 2 does not apply to shape \(4,\)"):
        found.local_shape((4,))


@pytest.mark.parametrize(
    ("text", "mesh", "devices"),
    [
        ('[{"x"}, {}]', '["x"=2, "y"=2]', {(0, 0): (0, 1), (1, 0): (2, 3)}),
        ('[{}, {"y"}]', '["x"=2, "y"=2]', {(0, 0): (0, 2), (0, 1): (1, 3)}),
        ('[{"y", "x"}, {}]', '["x"=2, "y"=2]', {(0, 0): (0,), (1, 0): (2,), (2, 0): (1,), (3, 0): (3,)}),
        ('[{"y":(2)2}, {}]', '["x"=1, "y"=4]', {(0, 0): (0, 2), (1, 0): (1, 3)}),
        ('[{"x"}, {}]', '["x"=2], device_ids=[1, 0]', {(0, 0): (1,), (1, 0): (0,)}),
        ("[{}, {}]", '["x"=2]', {(0, 0): (0, 1)}),
    ],
)
def test_devices_of_each_shard(text: str, mesh: str, devices: dict[tuple[int, ...], tuple[int, ...]]) -> None:
    assert sharding(text, mesh).devices() == devices


def test_an_inlined_mesh_has_no_name() -> None:
    program = """
        func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) { return }
    """
    [argument] = sdyopt.parse(program).functions["f"].arguments
    assert argument.sharding is not None
    assert (argument.sharding.mesh.name, argument.sharding.mesh.size) == ("", 2)
    assert repr(argument.sharding.mesh) == 'Mesh(<["x"=2]>)'


def test_a_maximal_mesh_has_one_device() -> None:
    program = "sdy.mesh @one = <[], device_ids=[3]>"
    mesh = sdyopt.parse(program).meshes["one"]
    assert (mesh.axes, mesh.device_ids, mesh.size) == ((), (3,), 1)


def test_shardings_of_results_are_in_any_attribute() -> None:
    """`sdy.reshard` stores it in an attribute of its own, `stablehlo.add` in `sdy.sharding`."""
    program = """
        sdy.mesh @mesh = <["x"=2]>
        func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
          %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>} : tensor<8xf32>
          return %1 : tensor<8xf32>
        }
    """
    values = [value for op in sdyopt.parse(program).walk() for value in op.results]
    assert [str(value.sharding) for value in values] == [
        '#sdy.sharding<@mesh, [{"x"}]>',
        "#sdy.sharding<@mesh, [{?}]>",
    ]
    assert [value.local_shape for value in values] == [(4,), (8,)]


# --- Construction ---------------------------------------------------------------------------------


class PartitionSpec:
    """As in JAX: it must not be iterated over if it has unreduced axes."""

    UNCONSTRAINED = object()

    def __init__(self, *partitions: object, unreduced: Iterable[str] = ()) -> None:
        self.partitions = partitions
        self.unreduced = frozenset(unreduced)

    def __iter__(self) -> Iterator[Any]:
        if self.unreduced:
            raise ValueError
        return iter(self.partitions)


MESH = sdyopt.Mesh("mesh", {"x": 2, "y": 4})
HALF = sdyopt.Axis("y", 2, pre_size=1)


@pytest.mark.parametrize(
    ("sharding", "text"),
    [
        (sdyopt.Sharding(MESH, ["x", None]), '@mesh, [{"x"}, {}]'),
        (sdyopt.Sharding(MESH, [("y", "x")]), '@mesh, [{"y", "x"}]'),
        (sdyopt.Sharding(MESH, [HALF, MESH.axis("x")]), '@mesh, [{"y":(1)2}, {"x"}]'),
        (
            sdyopt.Sharding(MESH, [sdyopt.DimensionSharding((HALF,), is_closed=False, priority=2)]),
            '@mesh, [{"y":(1)2, ?}p2]',
        ),
        (sdyopt.Sharding(MESH, [], ["x"]), '@mesh, [], replicated={"x"}'),
        (sdyopt.Sharding(MESH, [None], (), ["y"], "max"), '@mesh, [{}], unreduced=max{"y"}'),
        (sdyopt.Sharding(MESH, PartitionSpec("x", ("y",))), '@mesh, [{"x"}, {"y"}]'),
        (sdyopt.Sharding(MESH, PartitionSpec(PartitionSpec.UNCONSTRAINED, None)), "@mesh, [{?}, {}]"),
        (sdyopt.Sharding(MESH, PartitionSpec(unreduced="yx")), '@mesh, [], unreduced={"x", "y"}'),
        (sdyopt.Sharding(sdyopt.Mesh("", {"x": 2}), ["x"]), 'mesh<["x"=2]>, [{"x"}]'),
    ],
)
def test_shardings_are_constructed(sharding: sdyopt.Sharding, text: str) -> None:
    assert str(sharding) == f"#sdy.sharding<{text}>"
    assert sharding == replace(sharding, dimensions=sharding.dimensions)


def test_meshes_are_constructed() -> None:
    assert str(MESH) == MESH.text == '<["x"=2, "y"=4]>'
    assert MESH.device_ids == tuple(range(8))
    assert sdyopt.Mesh("mesh", MESH.axes, range(8)) == MESH
    assert str(sdyopt.Mesh("m", {"x": 2}, [1, 0])) == '<["x"=2], device_ids=[1, 0]>'
    assert str(sdyopt.Mesh("m", {}, [5])) == "<[], device_ids=[5]>"
    assert str(sdyopt.Mesh("m", {})) == "<[]>"
    assert sdyopt.Mesh("m", {"x": 1 << 62, "y": 2}).size == 1 << 63


def test_wrong_parts_of_shardings_are_errors() -> None:
    for make, error in (
        (lambda: sdyopt.Sharding(MESH, ["z"]), "has no axis 'z'; choose from x, y"),
        (lambda: sdyopt.Sharding(MESH, [sdyopt.Axis("x", 4)]), "has the size 2, not 4"),
        (lambda: sdyopt.Sharding(MESH, [], reduction="mean"), "one of sum, max, min, not 'mean'"),
        (lambda: sdyopt.Mesh("m", {"x": 0}), "axis size must be at least 1"),
        (lambda: sdyopt.Mesh("m", {"x": 2}, [0]), "must match total number of device ids"),
    ):
        with pytest.raises(ValueError, match=error):
            make()
    for dimensions in ("x", [3], [["x", 3]]):
        with pytest.raises(TypeError):
            sdyopt.Sharding(MESH, dimensions)  # type: ignore[arg-type]
    for name, axes in (("m", {1: 2}), (None, {"x": 2})):
        with pytest.raises(TypeError, match="is text, not"):
            sdyopt.Mesh(name, axes)  # type: ignore[arg-type]
