"""The search for the pass and the operation that make a program compute something else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from sdyopt.analysis.execution.bisection.steps import Runner, Step
from sdyopt.analysis.execution.bisection.units import Unit, UnitsProgram, program_of_units, units_of
from sdyopt.analysis.execution.failure import NotValidated
from sdyopt.analysis.execution.validation import FunctionValidation, ValidationOptions, compare
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.run import Verify
from sdyopt.shardy.partition.entry_functions import MAIN
from sdyopt.shardy.partition.outlining import called_functions

_RESHARDS = "sdy-insert-explicit-reshards"
# How many levels of producers are added to each operation, in turn, until one computes something else.
_DEPTHS = (0, 1, 2, 4, 8)
# The maximum number of units that are tested at once.
_BATCH = 256


@dataclass(frozen=True)
class Culprit:
    """What makes a program compute something else.

    `pass_flag` is the first pass after which it does, and `op` the operation; None if it was not found.
    `program` consists of this operation or, without one, is the whole program before `steps`. `difference` is
    how `program` differs after `steps`.
    """

    pass_flag: str
    steps: Sequence[Step]
    program: ModuleOp
    op: Op | None
    difference: FunctionValidation


class Bisection:
    """Bisects a pipeline, whose output is known to differ from its input."""

    def __init__(self, runner: Runner, options: ValidationOptions, verify: Verify) -> None:
        self._runner = runner
        self._options = options
        self._verify = verify
        # Whether the passes of this project partition the program correctly.
        self._is_partitioner_right = True

    def culprit(self, before: ModuleOp, name: str, steps: Sequence[Step]) -> Culprit:
        """The culprit in the function of this name. Raises NotValidated if nothing differs when run again."""
        programs = [before, *self._runner.run(before, steps)]
        self._is_partitioner_right = self._partitions_correctly(before, name)
        index, difference = self._first_wrong(programs, name)
        start = _start(steps, index)
        relevant = steps[start:index]
        flag = steps[index - 1].flag
        found = self._smallest(programs[start], relevant)
        if found is None:
            return Culprit(flag, relevant, programs[start], None, difference)
        unit, program, validation = found
        return Culprit(flag, relevant, program, unit.root, validation)

    # --- Passes -------------------------------------------------------------------------------

    def _first_wrong(self, programs: Sequence[ModuleOp], name: str) -> tuple[int, FunctionValidation]:
        """The first program that differs from the input, by binary search among those that can be run."""
        wrong = len(programs) - 1
        difference = self._difference(programs, wrong, name)
        if difference is None:
            raise NotValidated("nothing differs when the passes are run one by one")
        candidates = list(range(1, wrong))
        while candidates:
            tried = candidates[len(candidates) // 2]
            try:
                found = self._difference(programs, tried, name)
            except NotValidated:
                candidates.remove(tried)
                continue
            if found is None:
                candidates = [each for each in candidates if each > tried]
            else:
                wrong, difference = tried, found
                candidates = [each for each in candidates if each < tried]
        return wrong, difference

    def _difference(self, programs: Sequence[ModuleOp], index: int, name: str) -> FunctionValidation | None:
        """The difference of a program from the input; None if there is none."""
        validation = self._compare(programs[0], programs[index], name)
        return validation if validation.differs else None

    def _partitions_correctly(self, program: ModuleOp, name: str) -> bool:
        try:
            return not compare(program, program, name, self._options, self._verify).differs
        except NotValidated:
            return False

    def _compare(self, before: ModuleOp, after: ModuleOp, name: str) -> FunctionValidation:
        """Compares two programs.

        One that is not partitioned yet is partitioned first, if this project is known to do that correctly:
        then also a wrong sharding or a missing all-reduce shows. Otherwise it is run on one device.
        """
        if self._is_partitioner_right:
            with suppress(NotValidated):
                return compare(before, after, name, self._options, self._verify)
        return compare(before, after, name, self._options)

    # --- Operations ---------------------------------------------------------------------------

    def _smallest(
        self, program: ModuleOp, steps: Sequence[Step]
    ) -> tuple[Unit, ModuleOp, FunctionValidation] | None:
        """The smallest unit that differs by itself, and the program that consists of it."""
        units = units_of(program)
        for depth in _DEPTHS:
            larger = [unit.with_producers(depth) for unit in units]
            wrong = self._wrong_units(program, larger, steps)
            # Small units first; those of the same size in the order of the program.
            for unit in sorted(wrong, key=_size):
                alone = program_of_units(program, [unit]).module
                validation = self._run(alone, steps)
                if validation is not None and validation.differs:
                    return unit, alone, validation
        return None

    def _wrong_units(self, program: ModuleOp, units: Sequence[Unit], steps: Sequence[Step]) -> list[Unit]:
        """The units that differ if all are run at once; those that cannot be run are left out, by halving."""
        wrong: list[Unit] = []
        pending = [units[start : start + _BATCH] for start in range(0, len(units), _BATCH)]
        while pending:
            batch = pending.pop()
            combined = program_of_units(program, batch)
            validation = self._run(combined.module, steps)
            if validation is not None:
                wrong += _wrong(combined, validation)
            elif len(batch) > 1:
                half = len(batch) // 2
                pending += [batch[:half], batch[half:]]
        return wrong

    def _run(self, program: ModuleOp, steps: Sequence[Step]) -> FunctionValidation | None:
        """The comparison of a program before and after the steps; None if it cannot be run."""
        try:
            return self._compare(program, self._runner.run(program, steps)[-1], MAIN)
        except NotValidated:
            return None


def _start(steps: Sequence[Step], wrong: int) -> int:
    """How many steps come before those that operations are tested with.

    The operations of a program with explicit reshards depend on each other: partial results are reduced by
    another operation. So these reshards are inserted into each operation by itself.
    """
    flags = [step.flag for step in steps[:wrong]]
    return flags.index(_RESHARDS) if _RESHARDS in flags else wrong - 1


def _wrong(combined: UnitsProgram, validation: FunctionValidation) -> list[Unit]:
    found = {
        combined.units[r.index]: None for r in validation.results if not r.is_equal and not r.is_unstable
    }
    return list(found)


def _size(unit: Unit) -> int:
    """The number of operations, with those in regions and in called functions."""
    functions = {function for op in unit.ops for function in called_functions(op)}
    return sum(1 for op in (*unit.ops, *functions) for _ in op.walk())
