"""Validation of the programs of a run: compares what they compute before and after the passes.

What a pass or an operation breaks is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from sdyopt.analysis.execution import Options
from sdyopt.analysis.execution.bisection_units import Unit, UnitsProgram, program_of_units, units_of
from sdyopt.analysis.execution.global_program import partitioning_of
from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.execution.validation import (
    FunctionValidation,
    ValidationOptions,
    compare,
    findings,
    is_partitioned,
    validate,
)
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.base.dataclasses import dataclass, field, replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, handling
from sdyopt.base.diagnostics.ids import BISECTED, NOT_VALIDATED, USAGE_ERROR
from sdyopt.base.diagnostics.location import Source, UnknownLoc
from sdyopt.base.diagnostics.text import printable
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.sharding import sharding_text
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, Pipeline
from sdyopt.mlir.pipeline.base import write_options
from sdyopt.mlir.pipeline.run import Verify, run_pipeline
from sdyopt.mlir.registry import dialects_of_run
from sdyopt.shardy.partition.outlining import MAIN, called_functions

_BISECT_HELP = "--bisect=FILE finds the pass and the operation"


class Validating(Analysis[Options]):
    """The validation of one run."""

    phase = "Validation"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        worker = Worker(options.jax_python or "", options.validate_timeout, options.validate_memory)
        self._how = ValidationOptions(options.validate, options.validate_mode, worker)
        # The flags of the passes that C++ does not have and a warning has named.
        self._own: set[str] = set()

    def run_passes(self, program: Program) -> Op | None:
        """The program after the C++ passes of the pipeline; the program itself if it is not a module."""
        if not self.options.reference_python:
            return None
        if not isinstance(program.op, ModuleOp):
            return program.op
        steps = list(steps_of(program.pipeline))
        with _reporting(program.op):
            return [program.op, *self._runner(program.verify).run(program.op, steps)][-1]

    def on_result(self, program: Program) -> None:
        """Compares both programs. Raises DiagnosticError if programs cannot be run at all."""
        before, after, path = program.before, program.after_given_passes, self.options.bisect
        if not isinstance(before, ModuleOp) or not isinstance(after, ModuleOp):
            message = "not validated: the program is not a module"
            emit(Diagnostic(Severity.WARNING, after.location, message, id=NOT_VALIDATED))
            return
        verify = program.verify
        with _reporting(after):
            for validation in validate(before, after, self._how, verify):
                for diagnostic in findings(validation, before, self._how):
                    if diagnostic.severity is Severity.ERROR and not path:
                        diagnostic.help = _BISECT_HELP
                    emit(diagnostic)
                self.is_passed &= not validation.differs
                if validation.differs and path:
                    pipeline = Pipeline() if program.assumption else program.pipeline
                    self._bisect(before, after, validation.name, pipeline, verify)

    def _bisect(
        self, before: ModuleOp, after: ModuleOp, name: str, pipeline: Pipeline, verify: Verify
    ) -> None:
        steps = list(steps_of(pipeline))
        if not is_partitioned(before, after, name):
            steps += steps_of(partitioning_of(before, after))
        try:
            bisection = PipelineBisection(self._runner(verify), self._how, verify)
            culprit = bisection.culprit(before, name, steps)
        except NotValidated as failure:
            message = f"not bisected: {failure}"
            emit(Diagnostic(Severity.WARNING, before.location, message, id=NOT_VALIDATED))
            return
        path = self.options.bisect
        self.run.write_file(path, reduced_program(culprit, path))
        emit(bisection_finding(culprit, before, path))

    def _runner(self, verify: Verify) -> BisectionRunner:
        python = self.options.reference_python
        if not python:
            return OwnPasses(verify)
        worker = replace(self._how.worker, python=python)
        return ReferencePasses(worker, verify, self._warn_of_own_pass)

    def _warn_of_own_pass(self, flag: str) -> None:
        if flag not in self._own:
            self._own.add(flag)
            message = f"C++ has no pass '{flag}' with these options, so that of sdy-opt runs"
            emit(Diagnostic(Severity.WARNING, UnknownLoc(), message, id=NOT_VALIDATED))


@contextmanager
def _reporting(op: Op) -> Iterator[None]:
    """Turns the exceptions of programs that cannot be run into located errors."""
    try:
        yield
    except NoJax as error:
        problem = error.error("validate")
    except NotValidated as failure:
        problem = DiagnosticError.at(op.location, f"cannot validate: {failure}")
    else:
        return
    problem.diagnostic.id = USAGE_ERROR
    raise problem


_RESHARDS = "sdy-insert-explicit-reshards"

# How many levels of producers are added to each operation, in turn, until one computes something else.
_DEPTHS = (0, 1, 2, 4, 8)

# The maximum number of units that are tested at once.
_BATCH = 256


@dataclass(frozen=True)
class Culprit:
    """The culprit for which a program computes something else.

    `pass_flag` is the first pass after which it does, and `op` the operation; None if it was not found.
    `program` consists of this operation or, without one, is the whole program before `steps`. `difference` is
    how `program` differs after `steps`.
    """

    pass_flag: str
    steps: Sequence[PassStep]
    program: ModuleOp
    op: Op | None
    difference: FunctionValidation


class PipelineBisection:
    """Bisects a pipeline, whose output is known to differ from its input."""

    def __init__(self, runner: BisectionRunner, options: ValidationOptions, verify: Verify) -> None:
        self._runner = runner
        self._options = options
        self._verify = verify
        # Whether the passes of this project partition the program correctly.
        self._is_partitioner_right = True

    def culprit(self, before: ModuleOp, name: str, steps: Sequence[PassStep]) -> Culprit:
        """The culprit in the function of this name. Raises NotValidated if nothing differs when run again."""
        programs = [before, *self._runner.run(before, steps)]
        self._is_partitioner_right = self._partitions_correctly(before, name)
        index, difference = self._first_wrong(programs, name)
        start = _start(steps, index)
        relevant = steps[start:index]
        flag = steps[index - 1].flag
        row = self._smallest(programs[start], relevant)
        if row is None:
            return Culprit(flag, relevant, programs[start], None, difference)
        unit, program, validation = row
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
                function_validation = self._difference(programs, tried, name)
            except NotValidated:
                candidates.remove(tried)
                continue
            if function_validation is None:
                candidates = [candidate for candidate in candidates if candidate > tried]
            else:
                wrong, difference = tried, function_validation
                candidates = [candidate for candidate in candidates if candidate < tried]
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
        self, program: ModuleOp, steps: Sequence[PassStep]
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

    def _wrong_units(self, program: ModuleOp, units: Sequence[Unit], steps: Sequence[PassStep]) -> list[Unit]:
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

    def _run(self, program: ModuleOp, steps: Sequence[PassStep]) -> FunctionValidation | None:
        """The comparison of a program before and after the steps; None if it cannot be run."""
        try:
            return self._compare(program, self._runner.run(program, steps)[-1], MAIN)
        except NotValidated:
            return None


def _start(steps: Sequence[PassStep], wrong: int) -> int:
    """The number of steps before those that operations are tested with.

    The operations of a program with explicit reshards depend on each other: partial results are reduced by
    another operation. So these reshards are inserted into each operation by itself.
    """
    flags = [step.flag for step in steps[:wrong]]
    return flags.index(_RESHARDS) if _RESHARDS in flags else wrong - 1


def _wrong(combined: UnitsProgram, validation: FunctionValidation) -> list[Unit]:
    units = {
        combined.units[r.index]: None for r in validation.results if not r.is_equal and not r.is_unstable
    }
    return list(units)


def _size(unit: Unit) -> int:
    """The number of operations, with those in regions and in called functions."""
    functions = {function for op in unit.ops for function in called_functions(op)}
    return sum(1 for op in (*unit.ops, *functions) for _ in op.walk())


def reduced_program(culprit: Culprit, path: str) -> str:
    """The text of the reduced program, after a comment that says how it fails."""
    pipeline = ",".join(step.text.removeprefix("builtin.module(").removesuffix(")") for step in culprit.steps)
    what = "This operation" if culprit.op is not None else "This program"
    lines = [
        f"{what} computes something else after {culprit.pass_flag}:",
        f"  sdy-opt {path} --pass-pipeline='builtin.module({pipeline})' --validate",
    ]
    return "".join(f"// {printable(line)}\n" for line in lines) + print_op(culprit.program)


def bisection_finding(culprit: Culprit, before: ModuleOp, path: str) -> Diagnostic:
    """A remark on the pass and the operation that make a result differ."""
    flag = culprit.pass_flag
    if culprit.op is None:
        message = f"bisected: pass '{flag}' makes it differ, but no operation does by itself; see '{path}'"
        return Diagnostic(Severity.REMARK, before.location, message, id=BISECTED, pass_flag=flag)
    op = culprit.op
    message = f"bisected: pass '{flag}' makes it differ, by this '{op.name}' op; see '{path}'"
    notes = [Diagnostic(Severity.NOTE, op.location, _shardings(op))]
    return Diagnostic(Severity.REMARK, op.location, message, notes, id=BISECTED, pass_flag=flag)


def _shardings(op: Op) -> str:
    """`shardings: (<@mesh, [{"x"}]>, none) -> (<@mesh, [{}]>)`."""
    operands, results = (", ".join(map(_sharding_words, values)) for values in (op.operands, op.results))
    return f"shardings: ({operands}) -> ({results})"


def _sharding_words(value: Value) -> str:
    sharding = sharding_of(value)
    return "none" if sharding is None else sharding_text(sharding)


@dataclass(frozen=True)
class PassStep:
    """One pass: its flag, and the pipeline that runs it."""

    flag: str
    pipeline: Pipeline

    @property
    def text(self) -> str:
        """The pipeline, with the options that do not have their defaults."""
        return _text(self.pipeline)


def _text(element: Pass | Pipeline) -> str:
    if isinstance(element, Pipeline):
        return f"{element.anchor}({','.join(map(_text, element.elements))})"
    changed = tuple(option for option in element.options() if getattr(element, option.name) != option.default)
    return element.flag + write_options(changed, element)


_WITH_LOCATIONS = PrintOptions(debuginfo=True)

# It writes the program to a file and changes nothing.
_SAVE = "sdy-save-module"


def steps_of(pipeline: Pipeline) -> Iterator[PassStep]:
    """The passes of a pipeline in order; passes on functions run on all functions, one pass at a time."""
    for element in pipeline.elements:
        if isinstance(element, Pass) and element.flag != _SAVE:
            yield PassStep(element.flag, Pipeline(pipeline.anchor, [element]))
        elif isinstance(element, Pipeline):
            for step in steps_of(element):
                yield PassStep(step.flag, Pipeline(pipeline.anchor, [step.pipeline]))


class BisectionRunner(Protocol):
    """Runs steps on a copy of a program."""

    def run(self, program: ModuleOp, steps: Sequence[PassStep]) -> list[ModuleOp]:
        """The program after each step. Raises NotValidated if one fails."""


@dataclass(frozen=True)
class OwnPasses:
    """Runs the passes of this project."""

    verify: Verify

    def run(self, program: ModuleOp, steps: Sequence[PassStep]) -> list[ModuleOp]:
        """The program after each step."""
        programs: list[ModuleOp] = []
        for step in steps:
            program = _copy(program)
            _run(program, step, self.verify)
            programs.append(program)
        return programs


def _copy(program: ModuleOp) -> ModuleOp:
    copy = Rewriter().clone(program)
    assert isinstance(copy, ModuleOp)
    return copy


def _run(program: ModuleOp, step: PassStep, verify: Verify) -> None:
    errors: list[Diagnostic] = []

    def keep(diagnostic: Diagnostic) -> None:
        if diagnostic.severity is Severity.ERROR:
            errors.append(diagnostic)

    with handling(keep):
        succeeded = run_pipeline(step.pipeline, program, verify)
    if not succeeded:
        message = errors[0].message.partition("\n")[0] if errors else "it failed"
        raise NotValidated(f"'{step.flag}': {message}")


@dataclass(frozen=True)
class ReferencePasses:
    """Runs the C++ passes of jaxlib, and those of this project that jaxlib does not have.

    `note_own` is called with the flag of each pass of this project that runs.
    """

    worker: Worker
    verify: Verify
    note_own: Callable[[str], None] = field(default=lambda flag: None)

    def run(self, program: ModuleOp, steps: Sequence[PassStep]) -> list[ModuleOp]:
        """The program after each step."""
        programs: list[ModuleOp] = []
        remaining = list(steps)
        while remaining:
            request = {
                "program": print_op(program, _WITH_LOCATIONS),
                "pipelines": [step.text for step in remaining],
            }
            answers = self.worker.run("reference", {**request, "devices": 1})
            texts = [answer["text"] for answer in answers if "text" in answer]
            programs += map(_parse, texts)
            program = programs[-1] if programs else program
            del remaining[: len(texts)]
            last = answers[-1]
            if "failed" in last:
                message = " ".join(last["failed"].split())[:200]
                raise NotValidated(f"'{remaining[0].flag}' of C++: {message}")
            if remaining and "unknown" in last:
                self.note_own(remaining[0].flag)
                programs += OwnPasses(self.verify).run(program, [remaining.pop(0)])
                program = programs[-1]
            elif remaining:
                raise NotValidated(f"'{remaining[0].flag}' of C++ ends the process")
        return programs


def _parse(text: str) -> ModuleOp:
    try:
        program, _ = parse_module(Source("<reference>", text), dialects_of_run())
    except DiagnosticError as error:
        raise NotValidated(f"the output of C++ cannot be read: {error}") from None
    assert isinstance(program, ModuleOp)
    return program
