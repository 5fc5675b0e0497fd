"""Comparisons for callers that have modules.

compare_modules(NamedModule("old.mlir", old), NamedModule("new.mlir", new))
"""

from __future__ import annotations

from sdyopt.analysis.comparison.comparison import Comparison, Program, compare
from sdyopt.analysis.comparison.comparison_formats import comparison_text
from sdyopt.analysis.comparison.program_values import values_of
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.ir.operation import Op

__all__ = ["Comparison", "NamedModule", "compare_modules", "comparison_text"]


@dataclass(frozen=True, slots=True)
class NamedModule:
    """A module with the name of its source, and the module before passes ran, if they did."""

    name: str
    op: Op
    before_passes: Op | None = None


def compare_modules(before: NamedModule, after: NamedModule) -> Comparison:
    """The differences of two modules."""
    return compare(_program(before), _program(after))


def _program(module: NamedModule) -> Program:
    inputs = None if module.before_passes is None else values_of(module.before_passes, module.name)
    return Program(module.name, values_of(module.op, module.name), report_on(module.op), inputs)
