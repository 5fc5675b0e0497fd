"""A small sample of what `python -m tests.explanations` checks."""

from collections import Counter

import pytest

from sdyopt.analysis.sharding_record.absences import absences
from tests.explanations.__main__ import random_programs
from tests.explanations.chains import check_chains, check_replay
from tests.explanations.programs import Recorded, propagated

PROGRAMS = [program for name, text in random_programs(12) if (program := propagated(name, text)) is not None]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_axis_comes_from_an_annotation(program: Recorded) -> None:
    assert not [*check_chains(program, Counter()), *check_replay(program)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_absent_axis_has_a_reason(program: Recorded) -> None:
    assert all(
        absence.has_reason for subject in program.run.final for absence in absences(program.run, subject)
    )
