"""Attributes written as structures: `<handle = 1, type = 2>`, all of whose entries must be there.

An entry that cannot be read is an error of its own, and makes a second one that names the C++ type
that was wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.diagnostics.diagnostic import DiagnosticError

T = TypeVar("T")


class Parameter(NamedTuple):
    """One entry: its name, how it is read, the reference's type, and whether it may be missing."""

    name: str
    read: Callable[[AsmParser], Any]
    cpp_type: str
    is_optional: bool = False


def parse_struct_parameter(
    parser: AsmParser, owner: str, name: str, cpp_type: str, read: Callable[[AsmParser], T]
) -> T:
    """Reads a part of the attribute `StableHLO_owner`."""
    try:
        return read(parser)
    except DiagnosticError as error:
        raise error.then(
            parser.error(
                f"failed to parse StableHLO_{owner} parameter '{name}' which is to be a `{cpp_type}`"
            )
        ) from None


def parse_tablegen_struct(parser: AsmParser, owner: str, parameters: Sequence[Parameter]) -> list[Any]:
    """Reads `<name = value, …>`, names in any order; the values in the order of `parameters`."""
    parser.expect("<")
    found: dict[str, Any] = {}
    by_name = {parameter.name: parameter for parameter in parameters}
    while True:
        name = _read_name(parser)
        parser.expect("=")
        parameter = by_name.get(name)
        if parameter is None or name in found:
            raise parser.error(f"duplicate or unknown struct parameter name: {name}")
        found[name] = parse_struct_parameter(parser, owner, name, parameter.cpp_type, parameter.read)
        if len(found) == len(parameters) or not _has_more(parser, parameters, found):
            break
    for parameter in parameters:
        if parameter.name not in found and not parameter.is_optional:
            raise parser.error(f"struct is missing required parameter: {parameter.name}")
    parser.expect(">")
    return [found.get(parameter.name) for parameter in parameters]


def _read_name(parser: AsmParser) -> str:
    try:
        return parser.word()
    except DiagnosticError as error:
        raise error.then(parser.error("expected a parameter name in struct")) from None


def _has_more(parser: AsmParser, parameters: Sequence[Parameter], found: dict[str, Any]) -> bool:
    """Takes the comma before the next entry; it may be missing where all that is left is optional."""
    if parser.accept(","):
        return True
    if any(parameter.is_optional for parameter in parameters):
        return False
    parser.expect(",")
    return True


def integer(parser: AsmParser) -> int:
    """Reads a 64-bit integer."""
    return parser.integer()
