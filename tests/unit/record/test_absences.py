"""Why a value lacks an axis of a neighbor: the reasons are about the axes of this neighbor."""

from sdyopt.analysis.sharding_record.absences import Absence, Obstacle, absences
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.propagation.step_input import Reason
from tests.unit.record.records import recorded

MESHES = """
    sdy.mesh @mesh = <["x"=2, "y"=2, "z"=5]>
    sdy.mesh @other = <["a"=2]>
"""


def absences_in(op_name: str, text: str) -> list[Absence]:
    """The absences in the first result of the first operation with this name."""
    _, record = recorded(MESHES + text)
    (run,) = record.runs
    site = next(site for site in run.sites if site.op_name == f"stablehlo.{op_name}")
    subject: Subject | None = site.subjects[site.operand_count]
    assert subject is not None
    return list(absences(run, subject))


def test_conflicts_of_other_neighbors_are_no_reasons() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                        %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>})
            -> tensor<8xf32> {
          %0 = stablehlo.add %a, %b : tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    of_a = next(each for each in absences_in("add", text) if each.neighbor_position == 0)
    # That %a is in the way of "y", "x" is the reason why %0 lacks the axes of %b.
    assert [(each.reason, each.culprit) for each in of_a.refusals] == [(Reason.OTHER_AXES, 1)]


def test_a_dimension_after_overflow_axes_is_not_closed() -> None:
    text = """
        func.func @main(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
            -> tensor<24xf32> {
          %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", ?}]>]>}
            : (tensor<6x4xf32>) -> tensor<24xf32>
          return %0 : tensor<24xf32>
        }"""
    (absence,) = absences_in("reshape", text)
    (refusal,) = absence.refusals
    assert (refusal.reason, refusal.conflicting) == (Reason.OVERFLOW, (AxisRef("z"),))


def test_different_meshes_are_a_reason_only_where_dimensions_correspond() -> None:
    text = """
        func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
                        %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@other, [{}, {}]>})
            -> tensor<8x8xf32> {
          %0 = stablehlo.dot %a, %b : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }"""
    rows, contracted = absences_in("dot", text)
    assert [each.reason for each in rows.refusals] == [Reason.MESHES]
    assert (rows.dim, contracted.obstacle) == (0, Obstacle.NO_DIMENSION)
