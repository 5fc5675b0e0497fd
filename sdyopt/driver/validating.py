"""Validation of the programs of a job: compares what they compute before and after the pipeline."""

from __future__ import annotations

from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.diagnostics.ids import NOT_VALIDATED, USAGE_ERROR
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.driver.job import Job
from sdyopt.execution.failure import NoJax
from sdyopt.execution.findings import findings
from sdyopt.execution.process import Worker
from sdyopt.execution.validation import ValidationOptions, validate
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline.run import Verify

_BISECT_HELP = "--bisect=FILE finds the pass and the operation"


class Validating:
    """The validation of one job. `found_no_difference` becomes False if a result differs."""

    def __init__(self, job: Job) -> None:
        request = job.validation
        self._job = job
        self._options = ValidationOptions(
            request.seeds, request.mode, Worker(request.python, request.timeout, request.memory)
        )
        self._before: Op | None = None
        self.found_no_difference = True

    def start(self, op: Op) -> None:
        """Keeps a copy of a program before the pipeline runs."""
        self._before = Rewriter().clone(op)

    def finish(self, op: Op, verify: Verify) -> None:
        """Compares a program after the pipeline with the copy, and emits the diagnostics.

        Raises DiagnosticError if programs cannot be run at all.
        """
        before = self._before
        if not isinstance(before, ModuleOp) or not isinstance(op, ModuleOp):
            message = "not validated: the program is no module"
            emit(Diagnostic(Severity.WARNING, op.location, message, id=NOT_VALIDATED))
            return
        try:
            for validation in validate(before, op, self._options, verify):
                for diagnostic in findings(validation, before, self._options):
                    if diagnostic.severity is Severity.ERROR:
                        diagnostic.help = _BISECT_HELP
                    emit(diagnostic)
                self.found_no_difference &= not validation.differs
        except NoJax as error:
            problem = DiagnosticError.at(op.location, f"cannot validate: {error}").help(error.help)
            problem.diagnostic.id = USAGE_ERROR
            raise problem from None
