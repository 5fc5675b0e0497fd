"""The findings of lint rules in a program.

The code of the rules is imported when it is used: it imports all of stablehlo.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from sdyopt.base.diagnostics.ids import LINT_CONFIG_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import DEFAULT_COLUMNS
from sdyopt.base.diagnostics.whole_files import read_settings_file
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.tools.api.errors import (
    Diagnostic,
    as_parse_error,
    as_value_error,
    diagnostic_of,
    path_text,
    require_text,
)
from sdyopt.tools.api.html import as_html, html_fragment, table
from sdyopt.tools.api.machines import topology_of
from sdyopt.tools.api.program import IrProgram, discard


class Findings(tuple[Diagnostic, ...]):
    """The findings of `module.lint`, the most expensive ones first. `str` is their text with a summary."""

    summary: str

    def __new__(cls, diagnostics: Sequence[Diagnostic], summary: str) -> Findings:
        result = super().__new__(cls, diagnostics)
        result.summary = summary
        return result

    def __getnewargs__(self) -> tuple[tuple[Diagnostic, ...], str]:
        """Findings can be pickled, as diagnostics can."""
        return tuple(self), self.summary

    def __str__(self) -> str:
        return "".join([*(finding.text for finding in self), self.summary])

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        rows = [
            [
                as_html(finding.location.short),
                as_html(finding.id),
                as_html(finding.message),
                as_html(finding.help),
            ]
            for finding in self
        ]
        last = self.summary.rstrip("\n").rpartition("\n")[2].partition(";")[0]
        shown = [table(["where", "rule", "finding", "what helps"], rows)] if rows else []
        return html_fragment([f"<p><strong>{as_html(last)}</strong></p>", *shown])


def findings_of(
    program: IrProgram,
    rules: Sequence[str],
    config: str | PathLike[str] | None,
    topology: str | PathLike[str] | None = None,
) -> Findings:
    """The findings in a program, whose text is what excerpts show."""
    from sdyopt.analysis.lint.analysis import summary_text
    from sdyopt.analysis.lint.linter import Linter
    from sdyopt.analysis.lint.settings import LintSettings, read_settings, select

    with as_parse_error(LINT_CONFIG_ERROR):
        name = None if config is None else path_text("config", config)
        settings = LintSettings() if name is None else read_settings(name, read_settings_file(Path(name)))
    for rule in rules:
        require_text("a rule", rule)
    if rules:
        with as_value_error():
            settings.selected = select(rules)
    machine = None if topology is None else topology_of(topology)
    source = Source(program.source.name, program.text(PrintOptions(debuginfo=True)))
    with program.session(discard):
        module, _ = parse_module(source, program.dialects, program.options)
        linter = Linter(settings, source, program.dialects, program.options, machine=machine)
        result = linter.run(module, module)
    diagnostics = [diagnostic_of(diagnostic, source) for diagnostic in result.diagnostics]
    return Findings(diagnostics, summary_text(result, DEFAULT_COLUMNS))
