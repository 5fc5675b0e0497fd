"""Parsing of nested attributes, which are written in full (`#…`) or in a short syntax."""

from __future__ import annotations

from typing import TypeVar

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.types import Type

A = TypeVar("A", bound=Attribute)


def is_full_attribute(parser: AsmParser) -> bool:
    """Whether the next token starts a full attribute or an alias (`#…`), not the short syntax."""
    return parser.text.startswith("#", parser.skip_trivia())


def parse_attribute_of_class(parser: AsmParser, cls: type[A], expected_type: Type | None = None) -> A:
    """Parses a full attribute; a number without a type gets `expected_type`.

    Raises a DiagnosticError if the attribute is not a `cls`.
    """
    offset = parser.skip_trivia()
    attribute = parser.attribute(expected_type)
    if not isinstance(attribute, cls):
        raise parser.error("invalid kind of attribute specified", offset)
    return attribute
