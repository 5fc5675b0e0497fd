"""The way of an axis to a value: its steps, the closest first, and its annotation."""

from sdyopt.analysis.sharding_record.absences import AbsenceRule, Obstacle, absences, precedence
from sdyopt.analysis.sharding_record.arrivals import AnnotationKind, arrivals
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.sharding_record.sources import sources
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.propagation.step_input import Reason
from tests.unit.record.records import recorded

X, Y = AxisRef("x"), AxisRef("y")
MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n'


def of_op(record: ShardingRecord, name: str) -> tuple[PropagationRun, Subject]:
    """The first result of the first operation with this name."""
    (run,) = record.runs
    site = next(site for site in run.sites if site.op_name == f"stablehlo.{name}")
    result: Value = site.op.results[0]
    subject = run.subject_of[result]
    assert subject is not None
    return run, subject


def test_a_chain_leads_to_the_annotation() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
          %0 = stablehlo.negate %a : tensor<8xf32>
          %1 = stablehlo.cosine %0 : tensor<8xf32>
          return %1 : tensor<8xf32>
        }"""
    _, record = recorded(MESH + text)
    run, cosine = of_op(record, "cosine")
    (arrival,) = arrivals(record, run, cosine, X)
    first, second, last = arrival.chain()
    assert [each.step.site.op_name for each in (first, second) if each.step] == [
        "stablehlo.cosine",
        "stablehlo.negate",
    ]
    assert last.step is None
    assert (arrival.origin.kind, arrival.origin.number) == (AnnotationKind.INPUT, 0)


def test_parts_of_an_axis_may_come_on_different_ways() -> None:
    text = """
        func.func @main(%a: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {?}]>},
                        %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>})
            -> tensor<8xf32> {
          %0 = stablehlo.reshape %a : (tensor<2x4xf32>) -> tensor<8xf32>
          %1 = stablehlo.add %0, %b : tensor<8xf32>
          return %1 : tensor<8xf32>
        }"""
    _, record = recorded(MESH + text)
    run, reshape = of_op(record, "reshape")
    # The major half came from %a, before the add propagated the rest of the axis from %b.
    origins = {each.axis: each.origin.number for each in arrivals(record, run, reshape, X)}
    assert origins == {AxisRef("x", SubAxis(1, 2)): 0, AxisRef("x", SubAxis(2, 2)): 1}


def test_an_axis_that_is_not_there_has_no_arrival() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
          %0 = stablehlo.negate %a : tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    _, record = recorded(MESH + text)
    run, negate = of_op(record, "negate")
    assert arrivals(record, run, negate, Y) == []


def test_the_larger_tensor_wins_an_axis() -> None:
    text = """
        func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                        %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
            -> tensor<8x32xf32> {
          %0 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
          return %0 : tensor<8x32xf32>
        }"""
    _, record = recorded(MESH + text)
    run, dot = of_op(record, "dot")
    (absence,) = [each for each in absences(run, dot) if each.obstacle is None]
    (refusal,) = absence.refusals
    assert (absence.axis, absence.dim, refusal.reason) == (X, 0, Reason.OTHER_FACTOR)
    found = precedence(record, run, absence, refusal)
    assert found is not None
    assert found.rule is AbsenceRule.MORE_ELEMENTS


def test_contracted_dimensions_are_not_in_the_result() -> None:
    text = """
        func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                        %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
          %0 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
          return %0 : tensor<8x32xf32>
        }"""
    _, record = recorded(MESH + text)
    run, dot = of_op(record, "dot")
    assert {each.obstacle for each in absences(run, dot)} == {Obstacle.NO_DIMENSION}


def numbers_of_sources(text: str, op: str, axis: AxisRef) -> list[int]:
    """The numbers of the inputs that an axis of the result of an operation comes from."""
    _, record = recorded(MESH + text)
    run, subject = of_op(record, op)
    return [each.annotation.number for each in sources(record, run, subject, axis)]


def test_an_axis_has_all_annotations_that_would_give_it_as_sources() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                        %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
          %0 = stablehlo.add %a, %b : tensor<8xf32>
          %1 = stablehlo.cosine %0 : tensor<8xf32>
          return %1 : tensor<8xf32>
        }"""
    assert numbers_of_sources(text, "cosine", X) == [0, 1]


def test_an_annotation_is_no_source_if_the_axis_does_not_propagate_from_it() -> None:
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                        %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
          %0 = sdy.propagation_barrier %b allowed_direction=BACKWARD : tensor<8xf32>
          %1 = stablehlo.add %a, %0 : tensor<8xf32>
          return %1 : tensor<8xf32>
        }"""
    assert numbers_of_sources(text, "add", X) == [0]


def test_an_annotation_is_no_source_if_it_would_shard_another_dimension() -> None:
    text = """
        func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
                        %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>})
            -> tensor<8x8xf32> {
          %0 = stablehlo.add %a, %b : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }"""
    assert numbers_of_sources(text, "add", X) == [0]
