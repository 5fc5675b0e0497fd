"""A small sample of what `python -m tests.explanations` checks."""

from collections import Counter

import pytest

from sdyopt.record.absences import absences
from tests.explanations.__main__ import random_programs, undoable
from tests.explanations.chains import check_chains, check_replay
from tests.explanations.programs import Recorded, propagated
from tests.explanations.undo import Outcome, undo

PROGRAMS = [program for name, text in random_programs(12) if (program := propagated(name, text)) is not None]

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_axis_comes_from_an_annotation(program: Recorded) -> None:
    assert not [*check_chains(program, Counter()), *check_replay(program)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_absent_axis_has_a_reason(program: Recorded) -> None:
    assert all(
        absence.has_reason for subject in program.run.final for absence in absences(program.run, subject)
    )


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
    program = propagated("test", MESH + text)
    assert program is not None
    _, second = program.imported.functions[0].entry.arguments
    of_second = (case for case in undoable(program) if case.absence.subject is second)
    case = next(case for case in of_second if case.absence.dim == 0)
    assert undo(case) is Outcome.PROPAGATES
