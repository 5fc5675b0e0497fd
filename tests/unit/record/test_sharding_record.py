"""The sharding record: changes with their causes, copies, refusals at the fixed point."""

from sdyopt.analysis.sharding_record.model import Restored, Step
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.shardy.record import Means, active_recorder
from sdyopt.shardy.sharding.propagation.step_input import Reason, Refusal
from tests.unit.record.records import recorded

X, Y = AxisRef("x"), AxisRef("y")
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'


def test_a_change_has_the_step_that_caused_it() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
          %0 = stablehlo.negate %a : tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    _, record = recorded(MESH + text)
    (run,) = record.runs
    change, _ = run.changes  # that of %0, then that of result 0
    assert change.before is None
    assert list(change.after.axis_refs) == [X]
    step = change.cause
    assert isinstance(step, Step)
    assert step.site.op_name == "stablehlo.negate"
    # The first round by op priority propagates along elementwise operations.
    assert (step.priority, step.round) == (0, 1)
    assert [tuple(axis) for axis in step.propagated] == [(X, 0, 1)]
    assert change.position == 1


def test_a_site_refuses_axes_of_a_closed_dimension() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                        %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
          %0 = stablehlo.add %a, %b : tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    _, record = recorded(MESH + text)
    (run,) = record.runs
    site = next(site for site in run.sites if site.op_name == "stablehlo.add")
    assert site.refusals is not None
    # Operand 1 of the rule does not get "x", because its own dimension is closed.
    assert site.refusals.refusals == [Refusal(Reason.CLOSED, 0, (X,), target=1, culprit=1)]


def test_a_site_refuses_an_axis_that_another_dimension_uses() -> None:
    text = """
        func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
                        %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>})
            -> tensor<8x8xf32> {
          %0 = stablehlo.add %a, %b : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }"""
    _, record = recorded(MESH + text, "sdy-basic-propagate")
    site = next(site for site in record.runs[0].sites if site.op_name == "stablehlo.add")
    assert site.refusals is not None
    # Neither factor propagates: operand 1 uses "x" in factor 1, operand 0 in factor 0.
    assert site.refusals.refusals == [
        Refusal(Reason.OTHER_FACTOR, 0, (X,), None, 1, (X,), 1),
        Refusal(Reason.OTHER_FACTOR, 1, (X,), None, 0, (X,), 0),
    ]


def test_restored_user_priorities_are_causes() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1]>}) -> tensor<8xf32> {
          %0 = stablehlo.negate %a : tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    _, record = recorded(MESH + text)
    causes = [change.cause for change in record.runs[0].changes]
    restored, step, _ = causes
    assert isinstance(restored, Restored)
    assert restored.priority == 1
    assert isinstance(step, Step)
    assert step.priority == 1


def test_copies_have_the_annotated_operation() -> None:
    text = """
        func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = stablehlo.negate %a : tensor<8xf32>
          %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
          return %1 : tensor<8xf32>
        }"""
    _, record = recorded(MESH + text)
    ((copy,),) = record.copies.values()
    assert copy.means is Means.CONSTRAINT
    assert copy.op.signature.name == "sdy.sharding_constraint"


def test_no_recorder_is_active_afterwards() -> None:
    recorded(MESH + "func.func @main() { return }")
    assert active_recorder() is None
