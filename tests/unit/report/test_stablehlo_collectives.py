"""StableHLO's collectives: the axes that replica groups follow, and their bytes."""

from fractions import Fraction

import pytest

from sdyopt.analysis.figures.collective_traffic import axes_of_groups
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from tests.unit.report.programs import report

MESH = Mesh((MeshAxis("x", 2), MeshAxis("y", 2), MeshAxis("z", 2)))


@pytest.mark.parametrize(
    ("groups", "axes"),
    [
        ([[0, 1], [2, 3], [4, 5], [6, 7]], ["z"]),
        ([[0, 4], [1, 5], [2, 6], [3, 7]], ["x"]),
        ([[0, 1, 2, 3], [4, 5, 6, 7]], ["y", "z"]),
        ([[0, 1, 2, 3, 4, 5, 6, 7]], ["x", "y", "z"]),
        ([[0], [1], [2], [3], [4], [5], [6], [7]], []),
        ([[0, 3], [1, 2], [4, 7], [5, 6]], None),  # a diagonal
        ([[0, 1]], None),  # not all devices
    ],
)
def test_axes_of_replica_groups(groups: list[list[int]], axes: list[str] | None) -> None:
    assert axes_of_groups(groups, MESH) == axes


def test_axes_of_groups_in_another_order_of_devices() -> None:
    mesh = Mesh((MeshAxis("x", 2), MeshAxis("y", 2)), (0, 2, 1, 3))
    assert axes_of_groups([[0, 2], [1, 3]], mesh) == ["y"]


def test_figures_of_an_all_gather_in_a_manual_computation() -> None:
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>]
          manual_axes={"x"} (%b: tensor<4xf32>) {
        %1 = "stablehlo.all_gather"(%b) {all_gather_dim = 0 : i64,
          replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<16xf32>
        sdy.return %1 : tensor<16xf32>
      } : (tensor<16xf32>) -> tensor<16xf32>
      return %0 : tensor<16xf32>
    }
    """
    (found,) = report(text).collectives
    assert (found.axes, found.group_size) == ('{"x"}', 4)
    assert (found.bytes_in, found.bytes_out) == (16, 64)
    assert found.wire_bytes == Fraction(3, 4) * 64


@pytest.mark.parametrize(
    ("axis", "axes", "size"),
    [
        ('#stablehlo.axis_ref<name = "x">', '{"x"}', 4),
        ('#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>', '{"x":(1)2}', 2),
        ('#sdy<axis_ref"x">', '{"x"}', 4),
        ('#sdy<axis_ref"x":(1)2>', '{"x":(1)2}', 2),
    ],
)
def test_groups_by_axes_in_the_forms_of_stablehlo_and_of_shardings(axis: str, axes: str, size: int) -> None:
    text = f"""
    sdy.mesh @mesh = <["x"=4, "y"=2]>
    func.func @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}}) -> tensor<8xf32> {{
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{}}]>] out_shardings=[<@mesh, [{{}}]>]
          manual_axes={{"x"}} (%b: tensor<8xf32>) {{
        %1 = "stablehlo.all_reduce"(%b) <{{
            replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [{axis}]>}}> ({{
        ^bb0(%l: tensor<f32>, %r: tensor<f32>):
          %s = stablehlo.add %l, %r : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }}) : (tensor<8xf32>) -> tensor<8xf32>
        sdy.return %1 : tensor<8xf32>
      }} : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }}
    """
    (found,) = report(text).collectives
    assert (found.axes, found.group_size) == (axes, size)
