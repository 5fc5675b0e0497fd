"""What is to be done with an input, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sdyopt.asm.printer.asm_printer import PrintOptions
from sdyopt.diagnostics.render import Paint, leave_plain
from sdyopt.pipeline.ir_printing import IRPrintingOptions
from sdyopt.pipeline.tree import Pipeline

SPLIT_MARKER = "// -----"


def write_nowhere(*_: str) -> None:
    """Takes what is written and drops it."""


@dataclass(frozen=True)
class Job:
    """An input, and everything that decides what is made of it.

    `report` gets what people are to see while the job runs, `write_file` the files that it makes
    besides its output: (path, text).
    """

    name: str
    data: bytes = b""
    pipeline: Pipeline = field(default_factory=Pipeline)
    report: Callable[[str], None] = write_nowhere
    write_file: Callable[[str, str], None] = write_nowhere
    paint: Paint = leave_plain

    # An empty marker says not to split.
    split_marker: str = ""
    output_split_marker: str = SPLIT_MARKER
    allow_unregistered_dialects: bool = False
    # The LLVM release whose form of the mesh dialect is meant: 19 or 21.
    mesh_version: int = 19

    verify_each: bool = True
    verify_roundtrip: bool = False
    # "", "all" or "only-expected".
    verify_diagnostics: str = ""
    print_op_on_diagnostic: bool = True

    print_options: PrintOptions = field(default_factory=PrintOptions)
    ir_printing: IRPrintingOptions = field(default_factory=IRPrintingOptions)

    # "" for none, "tree" or "list"; "" for none, "pipeline" or "list".
    timing: str = ""
    timing_as_json: bool = False
    statistics: str = ""

    run_reproducer: bool = False
    # Paths; empty for none.
    crash_reproducer: str = ""
    reproducer: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: text to write, and whether everything went well."""

    succeeded: bool
    output: str
