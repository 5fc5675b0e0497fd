"""`--verify-roundtrip`: what is printed has to be read back as the same program."""

from __future__ import annotations

from itertools import zip_longest

from sdyopt.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.asm.parser.resources import Resources
from sdyopt.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.asm.printer.resource_printer import resource_section
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.source import Source
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op

# The generic form holds all of a program. The short forms do not: `reduce … applies` has no place for
# the locations in its region, a function none for empty dictionaries of attributes. They have to come
# out as they went in.
FORMS = (PrintOptions(debuginfo=True, generic=True), PrintOptions())


def verify_roundtrip(op: Op, resources: Resources, dialects: DialectTable, options: ParseOptions) -> None:
    """Raises DiagnosticError, with the first line that is not as it was, unless the program survives."""
    for form in FORMS:
        before = print_op(op, form) + resource_section(op, resources)
        try:
            again, resources_again = parse_module(Source("<roundtrip>", before), dialects, options)
        except DiagnosticError as error:
            problem = error.diagnostic
            raise op.op_error("failed to parse the printed program back, cannot verify round-trip").note(
                problem.message, problem.location
            ) from None
        after = print_op(again, form) + resource_section(again, resources_again)
        if before != after:
            raise _differs(op, before, after)


def _differs(op: Op, before: str, after: str) -> DiagnosticError:
    pairs = zip_longest(before.splitlines(), after.splitlines(), fillvalue="")
    number, (was, is_now) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return op.op_error("roundTrip testing roundtripped module differs from reference").note(
        f"line {number} of the printed program:\n{was.strip()}\n  became\n{is_now.strip()}"
    )
