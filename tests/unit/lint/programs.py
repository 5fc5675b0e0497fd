"""Lints small programs with every dialect."""

from __future__ import annotations

from fractions import Fraction

from sdyopt.analysis.lint.linter import Linter, LintResult
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.lint.rule import LintSettings
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.registry import all_dialects, find_dialect

DIALECTS = DialectTable(find_dialect, all_dialects)


def program(text: str) -> LintedProgram:
    """The program of a text."""
    op, _ = parse_module(Source("program.mlir", text), DIALECTS)
    return LintedProgram(op)


def lint(text: str, settings: LintSettings | None = None) -> LintResult:
    """What lint finds in a text, without passes on the command line."""
    module = program(text).module
    linter = Linter(settings or LintSettings(), Source("program.mlir", text), DIALECTS, ParseOptions())
    return linter.run(module, module)


def only(rule: str, **limits: int) -> LintSettings:
    """Settings that run a single rule, with these limits."""
    return LintSettings(
        selected=(rule,), limits={(rule, name): Fraction(value) for name, value in limits.items()}
    )


def sent_bytes(text: str) -> Fraction:
    """The wire bytes of one device in one run of a program with collectives."""
    return program(text).wire_bytes
