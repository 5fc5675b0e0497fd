"""Properties of printing and parsing: printed programs parse to the same programs."""

import re
from random import Random

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.ir.operation import Op
from tests.simulation.programs import DIALECTS

PRETTY, GENERIC = PrintOptions(), PrintOptions(generic=True)
# Every mode whose text can be parsed. Unique names cannot, in C++ either: the regions of a while loop share
# the names of their arguments.
MODES = {
    "pretty": PRETTY,
    "generic": GENERIC,
    "local scope": PrintOptions(local_scope=True),
    "generic, local scope": PrintOptions(generic=True, local_scope=True),
    "locations": PrintOptions(debuginfo=True),
    "generic, locations": PrintOptions(generic=True, debuginfo=True),
    "locations, local scope": PrintOptions(debuginfo=True, local_scope=True),
    "hexadecimal": PrintOptions(hex_elements_larger_than=1),
    "names from locations": PrintOptions(names_from_locations=True),
    "comments on uses": PrintOptions(value_users=True),
}
# C++ prints a slice of rank 0, and a case without branches, in a form that it cannot parse.
UNPARSABLE = re.compile(r"dynamic_slice %\S+, , sizes|\"stablehlo.case\"\(%\S+\) \(\)")


def prints_what_it_parses(text: str, random: Random) -> str:
    """A printed program is printed the same after it is parsed, in every mode."""
    module = parse(text)
    for name, mode in MODES.items():
        first = print_op(module, mode)
        if UNPARSABLE.search(first):
            continue
        try:
            second = print_op(parse(first), mode)
        except DiagnosticError as error:
            return f"in mode '{name}': {error}"
        # Regions without a syntax for locations lose these in the first text.
        if mode.debuginfo and not mode.generic:
            first, second = second, print_op(parse(second), mode)
        if first != second:
            return f"in mode '{name}': {first_difference(first, second)}"
    return ""


def has_one_meaning_in_both_forms(text: str, random: Random) -> str:
    """The custom and the generic form of a program are the same program."""
    module = parse(text)
    generic, pretty = print_op(module, GENERIC), print_op(module, PRETTY)
    difference = first_difference(pretty, print_op(parse(generic), PRETTY))
    if difference or UNPARSABLE.search(pretty):
        return difference
    return first_difference(generic, print_op(parse(pretty), GENERIC))


def is_parsed_without_cache(text: str, random: Random) -> str:
    """The statement cache of the parser does not change its result."""
    uncached = parse(text, ParseOptions(uses_statement_cache=False))
    with_locations = PrintOptions(generic=True, debuginfo=True)
    return first_difference(print_op(parse(text), with_locations), print_op(uncached, with_locations))


def parse(text: str, options: ParseOptions | None = None) -> Op:
    """The module of a program; raises DiagnosticError."""
    return parse_module(Source("random", text), DIALECTS, options or ParseOptions())[0]


def first_difference(expected: str, actual: str) -> str:
    """The first lines of two texts that differ; empty if the texts are equal."""
    if expected == actual:
        return ""
    pairs = zip([*expected.split("\n"), ""], [*actual.split("\n"), ""], strict=False)
    return next((f"{one}\n  is now\n{two}" for one, two in pairs if one != two), "one text is longer")
