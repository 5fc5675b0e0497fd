"""`--lint`: the findings in the programs of a job, and their summary."""

from __future__ import annotations

from sdyopt.analysis.lint.linter import Linter
from sdyopt.analysis.lint.settings import ALL, Settings, read_settings, select
from sdyopt.analysis.lint.summary import summary_text
from sdyopt.asm.parser.module_parser import ParseOptions
from sdyopt.diagnostics.diagnostic import Severity, emit
from sdyopt.diagnostics.ids import LINT_CONFIG_ERROR, identified
from sdyopt.diagnostics.source import Source
from sdyopt.diagnostics.usage import UsageError
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.driver.job import Job
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter

# The severities at which a job fails, by --lint-fail-on.
_FAILING = {
    "never": (),
    "error": (Severity.ERROR,),
    "warning": (Severity.ERROR, Severity.WARNING),
    "remark": (Severity.ERROR, Severity.WARNING, Severity.REMARK),
}


class Linting:
    """The lint runs of one job: one for each chunk.

    `texts` are the summaries; `is_passed` becomes False for a finding at which the job fails, or if a rule
    could not be checked. The constructor raises DiagnosticError for an invalid configuration file, and
    UsageError for an unknown rule.
    """

    def __init__(self, job: Job, dialects: DialectTable) -> None:
        self._job = job
        self._dialects = dialects
        options = job.lint_options
        with identified(LINT_CONFIG_ERROR):
            self.settings = Settings() if options.config is None else read_settings(*options.config)
        if options.select != (ALL,):
            self.settings.selected = select(options.select)
        self.failing = _FAILING[options.fail_on or self.settings.fail_on]
        self.texts: list[str] = []
        self.is_passed = True

    def of_chunk(self, chunk: Source) -> ChunkLint:
        """The lint run of a chunk."""
        options = ParseOptions(
            allow_unregistered_dialects=self._job.allow_unregistered_dialects,
            implicit_module=self._job.implicit_module,
        )
        return ChunkLint(self, Linter(self.settings, chunk, self._dialects, options))


class ChunkLint:
    """The lint run of one chunk: `read` takes its program before the pipeline, `check` after it."""

    def __init__(self, linting: Linting, linter: Linter) -> None:
        self._linting = linting
        self._linter = linter
        self._as_read: Op | None = None

    def read(self, op: Op, will_change: bool) -> None:
        """Keeps the program as it was read. Raises UsageError unless it is a module."""
        if not isinstance(op, ModuleOp):
            raise UsageError("the --lint option runs on a module", "remove --no-implicit-module")
        self._as_read = Rewriter().clone(op) if will_change else op

    def check(self, op: Op) -> None:
        """Emits the findings, and adds their summary."""
        assert self._as_read is not None
        linting = self._linting
        result = self._linter.run(self._as_read, op)
        for diagnostic in result.diagnostics:
            linting.is_passed &= diagnostic.severity not in linting.failing
            emit(diagnostic)
        linting.is_passed &= result.is_complete
        linting.texts.append(summary_text(result))
