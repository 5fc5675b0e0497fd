"""`--verify-roundtrip`: what is printed has to be read back as the same program."""

from __future__ import annotations

from itertools import zip_longest

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.source import Source
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op
from sdyopt.syntax.parse import ParseOptions, parse_module
from sdyopt.syntax.print import PrintOptions, print_op
from sdyopt.syntax.resources import Resources, resource_section

PRETTY = PrintOptions(debuginfo=True)
# Locations have to be readable but are not compared: short forms such as `while` and `reduce … applies`
# have no place for those of the values and operations in their regions.
GENERIC = PrintOptions(generic=True)


def verify_roundtrip(op: Op, resources: Resources, dialects: DialectTable, options: ParseOptions) -> None:
    """Raises DiagnosticError, with the first line that is not as it was, unless the program survives."""

    def written(op: Op, resources: Resources, how: PrintOptions) -> str:
        return print_op(op, dialects, how) + resource_section(op, resources)

    text = written(op, resources, PRETTY)
    try:
        again, resources_again = parse_module(Source("<roundtrip>", text), dialects, options)
    except DiagnosticError as error:
        problem = error.diagnostic
        raise op.op_error("failed to parse the printed program back, cannot verify round-trip").note(
            problem.message, problem.location
        ) from None
    reference = written(op, resources, GENERIC)
    roundtrip = written(again, resources_again, GENERIC)
    if reference == roundtrip:
        return
    pairs = zip_longest(reference.splitlines(), roundtrip.splitlines(), fillvalue="")
    number, (before, after) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    raise op.op_error("roundTrip testing roundtripped module differs from reference").note(
        f"line {number} of the generic form:\n{before.strip()}\n  became\n{after.strip()}"
    )
