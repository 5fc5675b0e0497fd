"""Advice on a program, which changes of annotations make it cheaper, and the findings of lint rules.

The code of the search and of the rules is imported when it is used: it imports all of stablehlo.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from sdyopt.analysis.advise import Options
from sdyopt.base.diagnostics.ids import LINT_CONFIG_ERROR, TOPOLOGY_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import DEFAULT_COLUMNS
from sdyopt.base.diagnostics.whole_files import read_settings_file
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.api.errors import (
    Diagnostic,
    as_parse_error,
    as_value_error,
    diagnostic_of,
    path_text,
    require_text,
)
from sdyopt.tools.api.execution import execution_errors
from sdyopt.tools.api.html import as_html, html_fragment, table
from sdyopt.tools.api.program import IrProgram, OfProgram, discard
from sdyopt.tools.api.shardings import topology_of

if TYPE_CHECKING:  # the search imports rich and all of stablehlo
    from sdyopt.analysis.advise import adviser as found
    from sdyopt.analysis.changes.trials import Trial


T = TypeVar("T")


class Advice(OfProgram, Generic[T]):
    """The advice of `sdy-opt --advise`. `str` is its text.

    `module` is the program with the best change, or with all of several changes, before passes.
    """

    __slots__ = ("ir", "module")
    _passed = 'its module, or as_text(".json")'

    ir: found.AdviceResult
    module: T

    def __init__(self, ir: found.AdviceResult, module: T) -> None:
        self.ir = ir
        self.module = module

    @property
    def changes(self) -> tuple[Trial, ...]:
        """The changes: alternatives, the best first, or several in their order.

        Each has its `text`, its `annotations` with `place`, `spec` and `sdy`, and the figures `before` and
        `after` it: `seconds`, `wire_bytes`, `peak_bytes` and `useful_share`.
        """
        return tuple(self.ir.changes)

    @property
    def tried(self) -> int:
        """The number of changes that were tried."""
        return self.ir.tried

    def as_text(self, suffix: str = ".txt", width: int = 100) -> str:
        """The advice in the format of a suffix: .txt, .md, .html or .json."""
        from sdyopt.analysis.advise.analysis import advice_text

        return advice_text(self.ir, suffix, width)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return f"<sdyopt.Advice: {len(self.changes)} changes of {self.tried} tried>"

    def _repr_html_(self) -> str:
        from sdyopt.analysis.advise.analysis import header_of
        from sdyopt.analysis.figures.units import bytes_text, seconds_text

        rows = [
            [
                as_html(change.text),
                as_html(change.now),
                _change(change.before.seconds, change.after.seconds, seconds_text),
                _change(change.before.wire_bytes, change.after.wire_bytes, bytes_text),
                _change(change.before.peak_bytes, change.after.peak_bytes, bytes_text),
            ]
            for change in self.changes
        ]
        lines = [f"<p>{as_html(line)}</p>" for line in header_of(self.ir)]
        columns = ["change", "now", "time", "sent", "memory"]
        return html_fragment([*lines, table(columns, rows)] if rows else lines)


def _change(before: Fraction | int, after: Fraction | int, text: Callable[[Fraction], str]) -> str:
    """`-12%`, and the figures."""
    share = f"{100 * float(Fraction(after) / Fraction(before) - 1):+.1f}%" if before else ""
    return f"<strong>{share}</strong><br>{text(Fraction(before))} → {text(Fraction(after))}"


def advice_on(
    program: IrProgram,
    options: Options,
    topology: str | PathLike[str] | None,
    wrap: Callable[[Op], T],
) -> Advice[T]:
    """The advice on a program with options of `--advise`.

    Raises ParseError for a malformed topology, and ExecutionError if XLA is needed and there is no jax.
    """
    from sdyopt.analysis.advise.analysis import advice_of

    speeds = None if topology is None else topology_of(topology)
    with execution_errors(program), as_parse_error(TOPOLOGY_ERROR):
        advice = advice_of(program.op, options, speeds)
    return Advice(advice, wrap(advice.program))


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
    from sdyopt.analysis.lint.rule import LintSettings, read_settings, select

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
