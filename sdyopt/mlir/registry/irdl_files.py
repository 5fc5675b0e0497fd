"""Reads files that define dialects in the dialect irdl."""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, handling
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.text import native_path
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.diagnostics.whole_files import read_settings_file
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.irdl.loading import dialects_of
from sdyopt.mlir.ir.dialect import Dialect, DialectTable
from sdyopt.mlir.ir.verify import Verifier


def read_dialects(path: str, dialects: DialectTable) -> list[Dialect]:
    """The dialects that a file defines. Raises DiagnosticError if it is invalid, or UsageError."""
    try:
        source = Source(path, read_settings_file(native_path(path)))
    except OSError as error:
        raise UsageError(f"cannot open input file '{path}': {error.strerror}") from None
    problems: list[Diagnostic] = []
    try:
        module, _ = parse_module(source, dialects, ParseOptions())
    except DiagnosticError as error:
        raise error.within(source) from None
    with handling(problems.append):
        Verifier(dialects, AttributePrinter().type, print_for_note).verify(module)
    if problems:
        raise DiagnosticError(problems[0]).within(source)
    return dialects_of(module)
