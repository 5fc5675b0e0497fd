"""Analyses of programs as data: comparisons, snapshots, advice, and the findings of lint rules.

The code that compares, searches or lints is imported when it is used: it imports rich and all of stablehlo.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from sdyopt.analysis.advise import Options
from sdyopt.base.diagnostics.ids import (
    LINT_CONFIG_ERROR,
    SNAPSHOT_DIFFERENCE,
    SNAPSHOT_ERROR,
    TOPOLOGY_ERROR,
    identify,
)
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import DEFAULT_COLUMNS
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.diagnostics.whole_files import read_settings_file
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.api.errors import (
    Diagnostic,
    Location,
    as_parse_error,
    as_value_error,
    diagnostic_of,
    from_source,
    path_text,
    require_text,
)
from sdyopt.tools.api.execution import execution_errors
from sdyopt.tools.api.html import as_html, coloured, html_fragment, sections, table
from sdyopt.tools.api.program import IrProgram, OfProgram, discard
from sdyopt.tools.api.shardings import topology_of

if TYPE_CHECKING:  # imported only for comparisons, because importing rich is slow
    from sdyopt.analysis.advise import adviser as found
    from sdyopt.analysis.changes.trial import Trial
    from sdyopt.analysis.comparison import comparison
    from sdyopt.analysis.comparison.program_values import ProgramValue


# The rows of each table that a notebook shows.
MAX_ROWS = 20


class BeforeAndAfter(NamedTuple):
    """A text in the program before and in the one after; None in a program without it."""

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ShardingChange:
    """A value whose sharding differs between two programs.

    `label` is what the program calls it: the name of an argument, or a name stack. Names, types and shardings
    are those before and after, as text; None in a program that does not have the value or a sharding.
    """

    label: str
    location: Location
    names: BeforeAndAfter
    types: BeforeAndAfter
    before: str | None
    after: str | None

    def __str__(self) -> str:
        name = self.label or self.names.after or self.names.before
        return f"{name}: {self.before} → {self.after}"


class Comparison(OfProgram):
    """The comparison of `sdy-opt --compare-with`. `str` is its text."""

    __slots__ = ("ir",)
    _passed = "to_dict()"

    ir: comparison.ProgramComparison

    def __init__(self, ir: comparison.ProgramComparison) -> None:
        self.ir = ir

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return self.ir.is_empty

    @property
    def annotations(self) -> tuple[ShardingChange, ...]:
        """The values whose sharding differs before the passes; none if no passes ran."""
        return tuple(map(_change, self.ir.annotations))

    @property
    def shardings(self) -> tuple[ShardingChange, ...]:
        """The values whose slices on the devices differ, those that cause other differences first."""
        return tuple(map(_change, self.ir.placements))

    def to_json(self) -> str:
        """The comparison as JSON, whose schema is versioned."""
        return self._write(".json")

    def to_dict(self) -> dict[str, Any]:
        """The data of the JSON."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_markdown(self) -> str:
        return self._write(".md")

    def to_html(self) -> str:
        """The comparison as an HTML page."""
        return self._write(".html")

    def __str__(self) -> str:
        return self._write(".txt")

    def __repr__(self) -> str:
        return f"<sdyopt.Comparison: {counted(len(self.ir.placements), 'sharding')} changed>"

    def _repr_html_(self) -> str:
        from sdyopt.analysis.comparison.comparison_sections import header_of, sections_of

        meshes = (mesh for side in (self.ir.before, self.ir.after) for mesh in side.meshes.values())
        axes = list(dict.fromkeys(axis.name for mesh in meshes for axis in mesh.axes))
        header = "\n".join([coloured(line, axes) for line in header_of(self.ir)])
        return html_fragment([f"<pre>{header}</pre>", *sections(sections_of(self.ir), axes, MAX_ROWS)])

    def _write(self, suffix: str) -> str:
        from sdyopt.analysis.comparison.comparison_formats import comparison_text

        return comparison_text(self.ir, f"comparison{suffix}")


class Comparable:
    """A module with its name, and its form before passes ran, if they did."""

    def __init__(self, name: str, op: Op, before_passes: Op | None = None) -> None:
        from sdyopt.analysis.comparison.comparison import NamedModule

        self._module = NamedModule(name, op, before_passes)

    def compared_with(self, before: Comparable) -> Comparison:
        """The differences from another module."""
        from sdyopt.analysis.comparison.comparison import compare_modules

        return Comparison(compare_modules(before._module, self._module))

    def snapshot(self, places: Sequence[str]) -> str:
        """The text of the snapshot."""
        from sdyopt.analysis.comparison.snapshot.analysis import snapshot_of_module

        return snapshot_of_module(self._module, places)

    def differences_from_snapshot(self, path: str | PathLike[str]) -> tuple[Diagnostic, ...]:
        """An error for each difference from a snapshot. Raises ParseError for a file with mistakes."""
        from sdyopt.analysis.comparison.snapshot.analysis import check_module

        with as_parse_error(SNAPSHOT_ERROR):
            diagnostics = check_module(self._module, path_text("path", path))
        for diagnostic in diagnostics:
            identify(diagnostic, SNAPSHOT_DIFFERENCE)
        return tuple([diagnostic_of(diagnostic, diagnostic.source) for diagnostic in diagnostics])


def _change(change: comparison.ShardingChange) -> ShardingChange:
    old, new = change.before, change.after
    return ShardingChange(
        change.value.label,
        from_source(change.value.location),
        BeforeAndAfter(_name(old), _name(new)),
        BeforeAndAfter(_type(old), _type(new)),
        _sharding(old),
        _sharding(new),
    )


def _name(value: ProgramValue | None) -> str | None:
    return None if value is None else value.name


def _type(value: ProgramValue | None) -> str | None:
    return None if value is None else value.type


def _sharding(value: ProgramValue | None) -> str | None:
    return None if value is None or value.sharding is None else value.sharding.text


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
                _advised(change.before.seconds, change.after.seconds, seconds_text),
                _advised(change.before.wire_bytes, change.after.wire_bytes, bytes_text),
                _advised(change.before.peak_bytes, change.after.peak_bytes, bytes_text),
            ]
            for change in self.changes
        ]
        lines = [f"<p>{as_html(line)}</p>" for line in header_of(self.ir)]
        columns = ["change", "now", "time", "sent", "memory"]
        return html_fragment([*lines, table(columns, rows)] if rows else lines)


def _advised(before: Fraction | int, after: Fraction | int, text: Callable[[Fraction], str]) -> str:
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
