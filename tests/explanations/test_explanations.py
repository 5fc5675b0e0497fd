"""A small sample of what `python -m tests.explanations` checks."""

from collections import Counter

import pytest

from sdyopt.analysis.sharding_record.absences import absences
from sdyopt.mlir.ir.value import OpResult
from sdyopt.shardy.record import Subject
from tests.explanations.__main__ import random_programs, sample_of_axes
from tests.explanations.chains import check_chains, check_replay
from tests.explanations.programs import Recorded, propagated
from tests.explanations.sources import remains

PROGRAMS = [program for name, text in random_programs(12) if (program := propagated(name, text)) is not None]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_axis_comes_from_an_annotation(program: Recorded) -> None:
    assert not [*check_chains(program, Counter()), *check_replay(program)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_absent_axis_has_a_reason(program: Recorded) -> None:
    assert all(
        absence.has_reason for subject in program.run.final for absence in absences(program.run, subject)
    )


SOURCES = """
    sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]>
    func.func @main(%arg: tensor<32x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {"c"}]>})
        -> tensor<4x8x64x64xf32> {
      %0 = stablehlo.reshape %arg : (tensor<32x4096xf32>) -> tensor<4x8x64x64xf32>
      %1 = stablehlo.negate %0 : tensor<4x8x64x64xf32>
      %2 = sdy.sharding_constraint %1 <@mesh, [{"b", ?}, {"a", ?}, {?}, {?}]> : tensor<4x8x64x64xf32>
      %3 = stablehlo.abs %2 : tensor<4x8x64x64xf32>
      return %3 : tensor<4x8x64x64xf32>
    }
"""
MANUAL = """
    sdy.mesh @mesh = <["x"=2, "z"=4]>
    func.func @main(
        %arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {"x"}]>}) -> tensor<8x8xf32> {
      %0 = sdy.manual_computation(%arg) in_shardings=[<@mesh, [{?}, {"x", ?}]>]
          out_shardings=[<@mesh, [{?}, {"x", ?}]>] manual_axes={"x"} (%b: tensor<8x4xf32>) {
        sdy.return %b : tensor<8x4xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
"""


@pytest.mark.parametrize(
    ("text", "op"),
    [(SOURCES, "stablehlo.abs"), (MANUAL, "")],
    ids=["axes in each other's way", "manual axes"],
)
def test_an_axis_is_gone_without_all_of_its_sources(text: str, op: str) -> None:
    program = propagated("sources", text)
    assert program is not None
    axes = [each for each in sample_of_axes(program, 20) if not op or _op_name(each[0]) == op]
    assert axes and not [each for each in axes if remains(program, *each)]


def _op_name(subject: Subject) -> str:
    return subject.op.signature.name if isinstance(subject, OpResult) else ""
