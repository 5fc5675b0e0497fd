"""The description of a run (`Job`) and its result (`Outcome`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sdyopt.asm.printer.asm_printer import PrintOptions
from sdyopt.diagnostics.render import Paint, leave_plain
from sdyopt.pipeline.ir_printing import IRPrintingOptions
from sdyopt.pipeline.tree import Pipeline

SPLIT_MARKER = "// -----"


def discard_text(*_: str) -> None:
    """Discards the text that is written."""


@dataclass(frozen=True)
class Job:
    """An input and the options of a run.

    `report` receives diagnostics, IR dumps and reports as text; `write_file` receives additional output files
    as (path, text).
    """

    name: str
    data: bytes = b""
    pipeline: Pipeline = field(default_factory=Pipeline)
    report: Callable[[str], None] = discard_text
    write_file: Callable[[str, str], None] = discard_text
    paint: Paint = leave_plain

    # The input is not split if the marker is empty.
    split_marker: str = ""
    output_split_marker: str = SPLIT_MARKER
    allow_unregistered_dialects: bool = False
    # The LLVM release that defines the syntax of the mesh dialect: 19 or 21.
    mesh_version: int = 19

    verify_each: bool = True
    verify_roundtrip: bool = False
    # "" (off), "all" or "only-expected".
    verify_diagnostics: str = ""
    print_op_on_diagnostic: bool = True

    print_options: PrintOptions = field(default_factory=PrintOptions)
    ir_printing: IRPrintingOptions = field(default_factory=IRPrintingOptions)

    # "" (off), "tree" or "list".
    timing: str = ""
    timing_as_json: bool = False
    # "" (off), "pipeline" or "list".
    statistics: str = ""

    run_reproducer: bool = False
    # Paths of files to write; "" for none.
    crash_reproducer: str = ""
    reproducer: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a job: the printed program, and whether there were no errors."""

    succeeded: bool
    output: str
