"""`--lint`: the findings in the programs of a run, and their summary."""

from __future__ import annotations

from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.lint import Options
from sdyopt.analysis.lint.linter import Linter
from sdyopt.analysis.lint.settings import ALL, Settings, read_settings, select
from sdyopt.analysis.lint.summary import summary_text
from sdyopt.base.diagnostics.diagnostic import Severity, emit
from sdyopt.base.diagnostics.ids import LINT_CONFIG_ERROR, identified

# The severities at which a run fails, by --lint-fail-on.
_FAILING = {
    "never": (),
    "error": (Severity.ERROR,),
    "warning": (Severity.ERROR, Severity.WARNING),
    "remark": (Severity.ERROR, Severity.WARNING, Severity.REMARK),
}


class Linting(Analysis[Options]):
    """The lint runs of one run. It also fails if a rule could not be checked.

    The constructor raises DiagnosticError for an invalid configuration file, and UsageError for an unknown
    rule.
    """

    phase = "Lint"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        with identified(LINT_CONFIG_ERROR):
            self._settings = Settings() if options.config is None else read_settings(*options.config)
        if options.lint != (ALL,):
            self._settings.selected = select(options.lint)
        self._failing = _FAILING[options.lint_fail_on or self._settings.fail_on]

    def on_result(self, program: Program) -> None:
        assert program.before is not None
        has_passes = bool(program.pipeline.elements) and not program.assumption
        linter = Linter(self._settings, program.source, program.dialects, program.parse_options, has_passes)
        # Trials need a program without collectives; the linter inserts them itself.
        after = program.op if has_passes else program.before
        result = linter.run(program.before, after)
        for diagnostic in result.diagnostics:
            self.is_passed &= diagnostic.severity not in self._failing
            emit(diagnostic)
        self.is_passed &= result.is_complete
        self.texts.append(summary_text(result))
