"""`--verify-roundtrip`: parsing the printed program must yield the same program."""

from __future__ import annotations

from itertools import zip_longest

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.asm.resources import Resources, resource_section
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op

# Only the generic syntax represents a program completely: `reduce … applies` has no syntax for the locations
# in its region, and functions have none for empty attribute dictionaries. So locations are compared in the
# generic syntax only.
SYNTAXES = (PrintOptions(debuginfo=True, generic=True), PrintOptions())


def verify_roundtrip(op: Op, resources: Resources, dialects: DialectTable, options: ParseOptions) -> None:
    """Raises DiagnosticError if the printed program cannot be parsed, or is then printed differently."""
    for print_options in SYNTAXES:
        before = print_op(op, print_options) + resource_section(op, resources)
        try:
            reparsed, reparsed_resources = parse_module(Source("<roundtrip>", before), dialects, options)
        except DiagnosticError as error:
            problem = error.diagnostic
            raise op.op_error("failed to parse the printed program back, cannot verify round-trip").note(
                problem.message, problem.location
            ) from None
        after = print_op(reparsed, print_options) + resource_section(reparsed, reparsed_resources)
        if before != after:
            raise _difference(op, before, after)


def _difference(op: Op, before: str, after: str) -> DiagnosticError:
    pairs = zip_longest(before.splitlines(), after.splitlines(), fillvalue="")
    number, (old, new) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return op.op_error("roundTrip testing roundtripped module differs from reference").note(
        f"line {number} of the printed program:\n{old.strip()}\n  became\n{new.strip()}"
    )
