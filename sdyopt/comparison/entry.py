"""Comparisons and snapshots for callers that have modules.

    compare_modules(NamedModule("old.mlir", old), NamedModule("new.mlir", new))
    Path("shardings.json").write_text(snapshot_of_module(NamedModule("new.mlir", new)))
    check_module(NamedModule("new.mlir", new), "shardings.json")

Faulty files raise DiagnosticError, located in the file; files that cannot be read, OSError.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.comparison.comparison import Comparison, Program, compare
from sdyopt.comparison.comparison_formats import comparison_text
from sdyopt.comparison.program_values import values_of
from sdyopt.comparison.snapshot import snapshot_of
from sdyopt.comparison.snapshot_check import SnapshotCheck
from sdyopt.comparison.snapshot_file import snapshot_text
from sdyopt.dataclasses import dataclass
from sdyopt.diagnostics.diagnostic import Diagnostic
from sdyopt.diagnostics.native_text import native_path
from sdyopt.ir.operation import Op
from sdyopt.report.program_report import report_on

__all__ = [
    "Comparison",
    "NamedModule",
    "check_module",
    "compare_modules",
    "comparison_text",
    "snapshot_of_module",
]


@dataclass(frozen=True, slots=True)
class NamedModule:
    """A module with the name of its source, and the module before passes ran, if they did."""

    name: str
    op: Op
    before_passes: Op | None = None


def compare_modules(before: NamedModule, after: NamedModule) -> Comparison:
    """The differences of two modules."""
    return compare(_program(before), _program(after))


def snapshot_of_module(module: NamedModule, places: Sequence[str] = ()) -> str:
    """The text of the snapshot of a module, limited to values at these places."""
    return snapshot_text(snapshot_of(values_of(module.op, module.name), places))


def check_module(module: NamedModule, path: str) -> list[Diagnostic]:
    """An error for each difference of a module from a snapshot."""
    text = native_path(path).read_text(encoding="utf-8", errors="surrogateescape")
    check = SnapshotCheck(path, text)
    now = snapshot_of(values_of(module.op, module.name), check.snapshot.places)
    return list(check.differences(now))


def _program(module: NamedModule) -> Program:
    inputs = None if module.before_passes is None else values_of(module.before_passes, module.name)
    return Program(module.name, values_of(module.op, module.name), report_on(module.op), inputs)
