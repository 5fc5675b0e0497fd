"""Validation of the programs of a run: compares what they compute before and after the passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sdyopt.analysis.execution import Options
from sdyopt.analysis.execution.bisection import (
    BisectionRunner,
    OwnPasses,
    PipelineBisection,
    ReferencePasses,
    bisection_finding,
    reduced_program,
    steps_of,
)
from sdyopt.analysis.execution.global_program import partitioning_of
from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.execution.validation import ValidationOptions, findings, is_partitioned, validate
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.base.diagnostics.ids import NOT_VALIDATED, USAGE_ERROR
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.run import Verify
from sdyopt.mlir.pipeline.tree import Pipeline

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
