"""Attributes written as records: `<offset_dims = [0, 1], index_vector_dim = 2>`.

Entries stand in any order, and those that are empty or 0 are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.stablehlo.bounds import dimension_size
from sdyopt.syntax.cursor import Cursor

Read = Callable[[Cursor], Any]


def dimension_list(cursor: Cursor) -> tuple[int, ...]:
    """Reads `[0, 1]`."""
    return tuple(cursor.comma_list(lambda: dimension_size(cursor), "[", "]"))


# The dimensions of two operands of a product that belong together, as all dialects with products write them.
PRODUCT_ENTRIES: Mapping[str, Read] = MappingProxyType(
    {
        "lhs_batching_dimensions": dimension_list,
        "rhs_batching_dimensions": dimension_list,
        "lhs_contracting_dimensions": dimension_list,
        "rhs_contracting_dimensions": dimension_list,
    }
)


def number(cursor: Cursor) -> int:
    """Reads an integer."""
    return cursor.integer()


def read_record(cursor: Cursor, what: str, entries: Mapping[str, Read]) -> dict[str, Any]:
    """Reads what stands behind `<`, up to and with `>`. An error says that it is about `what`, too."""
    found: dict[str, Any] = {}
    try:
        while not cursor.accept(">"):
            name = _name(cursor, entries)
            if name in found:
                raise cursor.error(f"duplicated `{name}` entry")
            cursor.expect("=")
            found[name] = entries[name](cursor)
            if not cursor.accept(","):
                cursor.expect(">")
                break
    except DiagnosticError as error:
        raise error.then(cursor.error(f"failed parsing {what} attribute")) from None
    return found


def _name(cursor: Cursor, entries: Mapping[str, Read]) -> str:
    for name in entries:
        if cursor.accept(name):
            return name
    names = ", ".join(f"`{name}`" for name in entries)
    raise cursor.error(f"expected one of: {names}")


def spell_record(mnemonic: str, entries: Mapping[str, tuple[int, ...] | int]) -> str:
    """The text of a record: the mnemonic, and the entries that say anything."""
    written = [
        f"{name} = {list(value) if isinstance(value, tuple) else value}"
        for name, value in entries.items()
        if value
    ]
    return f"{mnemonic}<{', '.join(written)}>"


def integer_list(cursor: Cursor) -> tuple[int, ...]:
    """Reads `[0, 1]`, integers only, as where a list of integers is an attribute by itself."""
    cursor.expect("[")
    if cursor.accept("]"):
        return ()
    try:
        values = tuple(cursor.comma_list(cursor.integer))
    except DiagnosticError as error:
        if not cursor.accept("]"):
            error.then(cursor.misplaced("expected ']'"))
        raise
    cursor.expect("]")
    return values
