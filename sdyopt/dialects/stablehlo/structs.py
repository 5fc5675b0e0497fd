"""Attributes written as structures: `<handle = 1, type = 2>`, all of whose entries must be there.

An entry that cannot be read is an error of its own, and makes a second one that names the C++ type
that was wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.syntax.cursor import Cursor

T = TypeVar("T")


class Parameter(NamedTuple):
    """One entry: its name, how it is read, the reference's type, and whether it may be missing."""

    name: str
    read: Callable[[Cursor], Any]
    cpp_type: str
    is_optional: bool = False


def read_parameter(cursor: Cursor, owner: str, name: str, cpp_type: str, read: Callable[[Cursor], T]) -> T:
    """Reads a part of the attribute `StableHLO_owner`."""
    try:
        return read(cursor)
    except DiagnosticError as error:
        raise error.then(
            cursor.error(
                f"failed to parse StableHLO_{owner} parameter '{name}' which is to be a `{cpp_type}`"
            )
        ) from None


def read_struct(cursor: Cursor, owner: str, parameters: Sequence[Parameter]) -> list[Any]:
    """Reads `<name = value, …>`, names in any order; the values in the order of `parameters`."""
    cursor.expect("<")
    found: dict[str, Any] = {}
    by_name = {parameter.name: parameter for parameter in parameters}
    while True:
        name = _read_name(cursor)
        cursor.expect("=")
        parameter = by_name.get(name)
        if parameter is None or name in found:
            raise cursor.error(f"duplicate or unknown struct parameter name: {name}")
        found[name] = read_parameter(cursor, owner, name, parameter.cpp_type, parameter.read)
        if len(found) == len(parameters) or not _has_more(cursor, parameters, found):
            break
    for parameter in parameters:
        if parameter.name not in found and not parameter.is_optional:
            raise cursor.error(f"struct is missing required parameter: {parameter.name}")
    cursor.expect(">")
    return [found.get(parameter.name) for parameter in parameters]


def _read_name(cursor: Cursor) -> str:
    try:
        return cursor.word()
    except DiagnosticError as error:
        raise error.then(cursor.error("expected a parameter name in struct")) from None


def _has_more(cursor: Cursor, parameters: Sequence[Parameter], found: dict[str, Any]) -> bool:
    """Takes the comma before the next entry; it may be missing where all that is left is optional."""
    if cursor.accept(","):
        return True
    if any(parameter.is_optional for parameter in parameters):
        return False
    cursor.expect(",")
    return True


def integer(cursor: Cursor) -> int:
    """Reads a 64-bit integer."""
    return cursor.integer()
