"""Reports on modules: figures, their output as text or in a file, and checks of limits.

    report = report_on(module, read_topology("tpu_v5e.toml"))
    print(report_text(report))
    write_report(report, "report.html", print_op(module, PrintOptions()))
    findings = [*over_budget(report, "budget.toml"), *over_baseline(report, "main.json", tolerance=2.5)]

A malformed file raises DiagnosticError, located in the file; one that cannot be read or written, OSError.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import PurePath

from sdyopt.analysis.figures import topology
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.machines import machine_text
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.interface.flag import TextFile
from sdyopt.analysis.report import formats
from sdyopt.analysis.report.budget import Budget
from sdyopt.analysis.report.formats import Reported, check_format
from sdyopt.analysis.report.json_report import read_baseline
from sdyopt.analysis.report.text_report import ROWS, text_report
from sdyopt.base.diagnostics.diagnostic import Diagnostic
from sdyopt.base.diagnostics.text import native_path
from sdyopt.base.diagnostics.whole_files import read_settings_file, replace_file

__all__ = [
    "Report",
    "check_format",
    "over_baseline",
    "over_budget",
    "read_topology",
    "report_on",
    "report_text",
    "topology_text",
    "write_report",
]


def report_text(
    report: Report, suffix: str = ".txt", program: str = "", width: int = 80, rows: int | None = ROWS
) -> str:
    """A report in the format of a suffix, by default for a terminal.

    `program` is the printed program, which only HTML shows; `width` and `rows` are for ".txt" only. Raises
    UsageError for an unknown suffix.
    """
    if suffix == ".txt":
        return text_report(report, width, rows)
    check_format(f"report{suffix}")
    return formats.report_text(Reported(report, lambda: program, "report"), f"report{suffix}")


def write_report(report: Report, path: str, program: str = "") -> None:
    """Writes a report to a file, in the format of its suffix. Raises UsageError for an unknown suffix."""
    check_format(path)
    text = formats.report_text(Reported(report, lambda: program, PurePath(path).stem), path)
    replace_file(native_path(path), text)


def read_topology(path: str) -> topology.Topology:
    """The topology of a well-known machine, or of a TOML file."""
    return topology.read_topology(*topology_text(path))


def topology_text(path: str) -> TextFile:
    """The text of the topology of a well-known machine, or of a TOML file. Raises UsageError."""
    return TextFile(path, machine_text(path) or _text(path))


def over_budget(report: Report, path: str, allow_unknown: bool = False) -> list[Diagnostic]:
    """An error for each exceeded limit of a TOML file, and for each unknown figure unless it is allowed."""
    return list(Budget(path, _text(path)).exceeded(report.best_known, allow_unknown))


def over_baseline(report: Report, path: str, tolerance: float = 0) -> list[Diagnostic]:
    """An error for each figure that is more than `tolerance` percent above that of an earlier JSON report."""
    return list(read_baseline(path, _text(path)).grown(report, Fraction(tolerance) / 100))


def _text(path: str) -> str:
    return read_settings_file(native_path(path))
