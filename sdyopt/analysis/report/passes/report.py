"""sdy-report: report on the communication, memory and compute of the program.

    sdy-opt model.mlir -sdy-user-priority-propagate -sdy-report='file=propagated.html' -sdy-close-shardings

The pass can be anywhere in a pipeline and changes nothing. It writes the report on the program at that
point to a file, in the format of its suffix (.html, .json, .md or .txt), or prints it on stderr. The option
--report reports on the program after the pipeline.
"""

from __future__ import annotations

import sys

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import dialects_of_run, register


@register("sdy-report")
class ReportPass(Pass):
    file: str = option(default="", help="file of the report (.html, .json, .md or .txt); stderr without one")
    rows: int = option(default=5, help="number of rows of each table on stderr; 0 for all")
    topology: str = option(default="", help="TOML file of speeds, which adds estimated times")

    def run(self, module: ModuleOp) -> bool:
        # Help imports all passes; reports are slow to import.
        from sdyopt.analysis.report.entry import (
            check_format,
            read_topology,
            report_on,
            report_text,
            write_report,
        )

        dialects = dialects_of_run()
        if not Verifier(dialects, plain_type, print_for_note).is_valid(module):
            raise DiagnosticError.at(module.location, "cannot report on an invalid program")
        try:
            if self.file:
                check_format(self.file)
            topology = read_topology(self.topology) if self.topology else None
            report = report_on(module, topology)
            if self.file:
                write_report(report, self.file, print_op(module, PrintOptions()))
            else:
                sys.stderr.write(report_text(report, rows=self.rows or None))
        except UsageError as error:
            raise DiagnosticError.at(module.location, error.message).help(error.help) from None
        except OSError as problem:
            message = f"cannot open file '{problem.filename}': {problem.strerror}"
            raise DiagnosticError.at(module.location, message) from None
        return False
