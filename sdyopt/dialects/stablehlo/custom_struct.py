"""Attributes written as records: `<offset_dims = [0, 1], index_vector_dim = 2>`.

Entries stand in any order, and those that are empty or 0 are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.stablehlo.bounds import dimension_size

Read = Callable[[AsmParser], Any]


def dimension_list(parser: AsmParser) -> tuple[int, ...]:
    """Reads `[0, 1]`."""
    return tuple(parser.comma_list(lambda: dimension_size(parser), "[", "]"))


# The dimensions of two operands of a product that belong together, as all dialects with products write them.
PRODUCT_ENTRIES: Mapping[str, Read] = MappingProxyType(
    {
        "lhs_batching_dimensions": dimension_list,
        "rhs_batching_dimensions": dimension_list,
        "lhs_contracting_dimensions": dimension_list,
        "rhs_contracting_dimensions": dimension_list,
    }
)


def number(parser: AsmParser) -> int:
    """Reads an integer."""
    return parser.integer()


def parse_custom_struct(parser: AsmParser, what: str, entries: Mapping[str, Read]) -> dict[str, Any]:
    """Reads what stands behind `<`, up to and with `>`. An error says that it is about `what`, too."""
    found: dict[str, Any] = {}
    try:
        while not parser.accept(">"):
            name = _name(parser, entries)
            if name in found:
                raise parser.error(f"duplicated `{name}` entry")
            parser.expect("=")
            found[name] = entries[name](parser)
            if not parser.accept(","):
                parser.expect(">")
                break
    except DiagnosticError as error:
        raise error.then(parser.error(f"failed parsing {what} attribute")) from None
    return found


def _name(parser: AsmParser, entries: Mapping[str, Read]) -> str:
    for name in entries:
        if parser.accept(name):
            return name
    names = ", ".join(f"`{name}`" for name in entries)
    raise parser.error(f"expected one of: {names}")


def print_custom_struct(mnemonic: str, entries: Mapping[str, tuple[int, ...] | int]) -> str:
    """The text of a record: the mnemonic, and the entries that say anything."""
    written = [
        f"{name} = {list(value) if isinstance(value, tuple) else value}"
        for name, value in entries.items()
        if value
    ]
    return f"{mnemonic}<{', '.join(written)}>"


def integer_list(parser: AsmParser) -> tuple[int, ...]:
    """Reads `[0, 1]`, integers only, as where a list of integers is an attribute by itself."""
    parser.expect("[")
    if parser.accept("]"):
        return ()
    try:
        values = tuple(parser.comma_list(parser.integer))
    except DiagnosticError as error:
        if not parser.accept("]"):
            error.then(parser.wrong_token_error("expected ']'"))
        raise
    parser.expect("]")
    return values
