"""Programs without the reason why an axis does not propagate: it then does."""

import pytest

from tests.explanations.__main__ import undoable
from tests.explanations.programs import propagated
from tests.explanations.undo import Case, Obstruction, Outcome, UndoMethod, undo

MESHES = """
    sdy.mesh @mesh = <["x"=2, "y"=2, "z"=5]>
    sdy.mesh @other = <["a"=2]>
"""


def cases_along(op_name: str, text: str) -> list[Case]:
    program = propagated("test", MESHES + text)
    assert program is not None
    return [case for case in undoable(program) if case.absence.site.op_name == op_name]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ('[{"x"}, {?}]', "[{}, {?}]"),
        ('[{"x"}, {?}]', '[{?}, {?}], replicated={"x"}'),
        ('[{"x"}, {?}]', '[{?}, {"x"}]'),
        ('[{"x"}, {?}]', '[{"y"}, {?}]'),
        ('[{"x"}, {?}]', '[{}, {"x"}], replicated={"y"}'),
    ],
    ids=["closed", "replicated", "other dimension", "other axis", "two reasons"],
)
def test_an_axis_propagates_without_its_reason(a: str, b: str) -> None:
    text = f"""
        func.func @main(
            %a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {a}>}},
            %b: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {b}>}}) -> tensor<8x8xf32> {{
          %0 = stablehlo.add %a, %b : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }}"""
    case = next(
        case
        for case in cases_along("stablehlo.add", text)
        if (case.absence.position, case.absence.dim) == (1, 0)
    )
    assert undo(case).outcome is Outcome.PROPAGATES


def test_a_dividing_axis_takes_the_place_of_one_that_does_not_divide() -> None:
    text = """
        func.func @main(%a: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>})
            -> tensor<6x4xf32> {
          %0 = stablehlo.reshape %a : (tensor<24xf32>) -> tensor<6x4xf32>
          return %0 : tensor<6x4xf32>
        }"""
    (case,) = cases_along("stablehlo.reshape", text)
    assert undo(case).propagates


def test_the_more_major_factor_is_sharded() -> None:
    text = """
        func.func @main(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
            -> tensor<24xf32> {
          %0 = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<24xf32>
          return %0 : tensor<24xf32>
        }"""
    (case,) = cases_along("stablehlo.reshape", text)
    assert undo(case).propagates


def test_overflow_axes_are_dropped() -> None:
    text = """
        func.func @main(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
            -> tensor<24xf32> {
          %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", ?}]>]>}
            : (tensor<6x4xf32>) -> tensor<24xf32>
          return %0 : tensor<24xf32>
        }"""
    case = next(case for case in cases_along("stablehlo.reshape", text) if case.absence.position == 1)
    # Without them, the more major factor is not fully sharded.
    assert undo(case).outcome is Outcome.AFTER_MORE


def test_all_operands_and_results_are_put_on_one_mesh() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                        %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) -> tensor<8xf32> {
          %0 = stablehlo.add %a, %b : tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    assert all(undo(case).propagates for case in cases_along("stablehlo.add", text))


def test_a_rule_is_added() -> None:
    text = """
        func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
            -> tensor<4xf32> {
          %0 = stablehlo.custom_call @foo(%a) : (tensor<8x6xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }"""
    (case,) = cases_along("stablehlo.custom_call", text)
    assert undo(case).propagates


def test_propagation_along_a_factor_is_not_blocked_any_more() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> tensor<8xf32> {
          %0 = stablehlo.custom_call @foo(%a) {
            sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} blocked_propagation={i}, custom>
          } : (tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    (case,) = cases_along("stablehlo.custom_call", text)
    assert undo(case).propagates


@pytest.mark.parametrize("direction", ["NONE", "BACKWARD"])
def test_a_barrier_is_opened(direction: str) -> None:
    text = f"""
        func.func @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
            -> tensor<8xf32> {{
          %0 = sdy.propagation_barrier %a allowed_direction={direction} : tensor<8xf32>
          return %0 : tensor<8xf32>
        }}"""
    (case,) = cases_along("sdy.propagation_barrier", text)
    assert undo(case).propagates


def test_all_members_of_a_sharding_group_are_edited() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                        %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
          sdy.sharding_group %b group_id=0 : tensor<8xf32>
          %0 = stablehlo.negate %a : tensor<8xf32>
          sdy.sharding_group %0 group_id=0 : tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    case = next(case for case in cases_along("stablehlo.negate", text) if case.absence.position == 1)
    assert undo(case).propagates


def test_a_competitor_from_the_annotation_of_the_neighbor_is_kept_off_the_tensor() -> None:
    text = """
        func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>})
            -> tensor<8x8x8xf32> {
          %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %1 = stablehlo.dot_general %a, %0, batching_dims = [0] x [0], contracting_dims = [] x []
            : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
          return %1 : tensor<8x8x8xf32>
        }"""
    case = next(case for case in cases_along("stablehlo.dot_general", text) if case.absence.position == 1)
    undone = undo(case)
    assert (undone.propagates, undone.method) == (True, UndoMethod.TENSOR)


def test_an_axis_of_a_manual_computation_becomes_free() -> None:
    undone = undo(manual_case('[{?}], replicated={"x"}', "tensor<8xf32>"))
    assert undone.propagates


def test_types_in_a_manual_computation_depend_on_its_manual_axes() -> None:
    undone = undo(manual_case('[{"y"}], replicated={"x"}', "tensor<4xf32>"))
    assert (undone.propagates, undone.obstruction) == (False, Obstruction.MANUAL)


def manual_case(sharding: str, local_type: str) -> Case:
    text = f"""
        func.func @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
            -> tensor<8xf32> {{
          %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, {sharding}>]
              out_shardings=[<@mesh, {sharding}>] manual_axes={{"x", "y"}} (%b: {local_type}) {{
            sdy.return %b : {local_type}
          }} : (tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }}"""
    return next(case for case in cases_along("sdy.data_flow_edge", text) if case.absence.position == 1)
