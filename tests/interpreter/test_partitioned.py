"""Small programs compute the same after partitioning, with the collectives that their comments name.

`programs.mlir` has the programs. `python -m tests.interpreter` writes the collectives of all of them.
"""

import pytest

from tests.interpreter.partitioned import collectives_of, difference, partitioned
from tests.interpreter.programs import PROGRAMS, Program


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_partitioned_program_computes_the_same(program: Program) -> None:
    local = partitioned(program.text)
    assert difference(program.text, local) == ""
    assert collectives_of(local) == program.collectives, "if it is better: python -m tests.interpreter"


def test_a_wrong_shard_is_a_difference() -> None:
    program = next(each for each in PROGRAMS if each.name == "a slice of one shard")
    local = partitioned(program.text)
    wrong = local.replace("[[1, 0]", "[[2, 0]")
    assert wrong != local
    assert difference(program.text, wrong).startswith("result 0 on device 0:\n")
