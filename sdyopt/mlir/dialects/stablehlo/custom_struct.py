"""Struct attributes with a custom syntax: `<offset_dims = [0, 1], index_vector_dim = 2>`.

Entries may be in any order; entries that are empty or 0 are not printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.dialects.stablehlo.bounds import parse_dimension_size

EntryParser = Callable[[AsmParser], Any]


def parse_dimensions(parser: AsmParser) -> tuple[int, ...]:
    """Parses a list such as `[0, 1]`, in which `?` is `DYNAMIC`."""
    return tuple(parser.comma_list(lambda: parse_dimension_size(parser), "[", "]"))


# Entries of dot dimension numbers, in stablehlo, chlo and mhlo.
DOT_ENTRIES: Mapping[str, EntryParser] = MappingProxyType(
    {
        "lhs_batching_dimensions": parse_dimensions,
        "rhs_batching_dimensions": parse_dimensions,
        "lhs_contracting_dimensions": parse_dimensions,
        "rhs_contracting_dimensions": parse_dimensions,
    }
)


def parse_custom_struct(parser: AsmParser, what: str, entries: Mapping[str, EntryParser]) -> dict[str, Any]:
    """Parses the entries after `<` and the closing `>`, and returns the values by name.

    Raises a DiagnosticError, followed by the error "failed parsing {what} attribute".
    """
    values: dict[str, Any] = {}
    try:
        while not parser.accept(">"):
            name = _parse_entry_name(parser, entries)
            if name in values:
                raise parser.error(f"duplicated `{name}` entry")
            parser.expect("=")
            values[name] = entries[name](parser)
            if not parser.accept(","):
                parser.expect(">")
                break
    except DiagnosticError as error:
        raise error.then(parser.error(f"failed parsing {what} attribute")) from None
    return values


def _parse_entry_name(parser: AsmParser, entries: Mapping[str, EntryParser]) -> str:
    for name in entries:
        if parser.accept(name):
            return name
    names = ", ".join(f"`{name}`" for name in entries)
    raise parser.error(f"expected one of: {names}")


def print_custom_struct(mnemonic: str, entries: Mapping[str, tuple[int, ...] | int]) -> str:
    """The mnemonic and the entries that are neither empty nor 0."""
    texts = [
        f"{name} = {list(value) if isinstance(value, tuple) else value}"
        for name, value in entries.items()
        if value
    ]
    return f"{mnemonic}<{', '.join(texts)}>"


def parse_integer_list(parser: AsmParser) -> tuple[int, ...]:
    """Parses a list of integers such as `[0, 1]`, with the errors of MLIR's dense array attributes."""
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
