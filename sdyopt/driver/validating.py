"""Validation of the programs of a job: compares what they compute before and after the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sdyopt.analysis.execution.bisection.bisect import Bisection
from sdyopt.analysis.execution.bisection.reduced_program import bisection_finding, reduced_program
from sdyopt.analysis.execution.bisection.steps import OwnPasses, ReferencePasses, Runner, steps_of
from sdyopt.analysis.execution.completion import partitioning_of
from sdyopt.analysis.execution.failure import NoJax, NotValidated
from sdyopt.analysis.execution.findings import findings
from sdyopt.analysis.execution.process import Worker
from sdyopt.analysis.execution.validation import ValidationOptions, is_partitioned, validate
from sdyopt.dataclasses import replace
from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.diagnostics.ids import NOT_VALIDATED, USAGE_ERROR
from sdyopt.diagnostics.location import UnknownLoc
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.driver.job import Job
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline.run import Verify
from sdyopt.pipeline.tree import Pipeline

_BISECT_HELP = "--bisect=FILE finds the pass and the operation"


class Validating:
    """The validation of one job. `found_no_difference` becomes False if a result differs."""

    def __init__(self, job: Job) -> None:
        request = job.validation
        self._job = job
        worker = Worker(request.python, request.timeout, request.memory)
        self._options = ValidationOptions(request.seeds, request.mode, worker)
        self._before: Op | None = None
        # The flags of the passes that C++ does not have and a warning has named.
        self._own: set[str] = set()
        self.found_no_difference = True

    def start(self, op: Op) -> None:
        """Keeps a copy of a program before the pipeline runs."""
        self._before = Rewriter().clone(op)

    def run_reference(self, op: Op, pipeline: Pipeline, verify: Verify) -> Op:
        """The program after the C++ passes of the pipeline; the program itself if it is no module."""
        if not isinstance(op, ModuleOp):
            return op
        steps = list(steps_of(pipeline))
        with _reporting(op):
            return [op, *self._runner(verify).run(op, steps)][-1]

    def finish(self, op: Op, pipeline: Pipeline, verify: Verify) -> None:
        """Compares a program after the pipeline with the copy, and emits the diagnostics.

        Raises DiagnosticError if programs cannot be run at all.
        """
        before = self._before
        if not isinstance(before, ModuleOp) or not isinstance(op, ModuleOp):
            message = "not validated: the program is no module"
            emit(Diagnostic(Severity.WARNING, op.location, message, id=NOT_VALIDATED))
            return
        path = self._job.validation.bisect
        with _reporting(op):
            for validation in validate(before, op, self._options, verify):
                for diagnostic in findings(validation, before, self._options):
                    if diagnostic.severity is Severity.ERROR and not path:
                        diagnostic.help = _BISECT_HELP
                    emit(diagnostic)
                self.found_no_difference &= not validation.differs
                if validation.differs and path:
                    self._bisect(before, op, validation.name, pipeline, verify)

    def _bisect(
        self, before: ModuleOp, after: ModuleOp, name: str, pipeline: Pipeline, verify: Verify
    ) -> None:
        steps = list(steps_of(pipeline))
        if not is_partitioned(before, after, name):
            steps += steps_of(partitioning_of(before, after))
        try:
            bisection = Bisection(self._runner(verify), self._options, verify)
            culprit = bisection.culprit(before, name, steps)
        except NotValidated as failure:
            message = f"not bisected: {failure}"
            emit(Diagnostic(Severity.WARNING, before.location, message, id=NOT_VALIDATED))
            return
        path = self._job.validation.bisect
        self._job.write_file(path, reduced_program(culprit, path))
        emit(bisection_finding(culprit, before, path))

    def _runner(self, verify: Verify) -> Runner:
        python = self._job.validation.reference_python
        if not python:
            return OwnPasses(verify)
        worker = replace(self._options.worker, python=python)
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
        problem = DiagnosticError.at(op.location, f"cannot validate: {error}").help(error.help)
    except NotValidated as failure:
        problem = DiagnosticError.at(op.location, f"cannot validate: {failure}")
    else:
        return
    problem.diagnostic.id = USAGE_ERROR
    raise problem
