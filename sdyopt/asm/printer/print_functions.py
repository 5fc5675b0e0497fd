"""The registry of functions that print types, attributes and locations, and what these functions share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sdyopt.interning import Interned
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.floats import float_text
from sdyopt.ir.numeric_attributes import FloatAttr, IntegerAttr
from sdyopt.ir.types import F64, I64

_PRETTY_SYMBOL = re.compile(r"[A-Za-z][\w.]*(?:<[\s\S]*>)?", re.ASCII)

# The text of an attribute, in which nested attributes, types and locations stand for their text.
Parts = list[str | Interned]
# (the attribute printer, an attribute, type or location) -> its parts
PrintFunction = Callable[[Any, Any], Parts]
F = TypeVar("F", bound=PrintFunction)
PRINT_FUNCTIONS: dict[type[Interned], PrintFunction] = {}


def prints(*classes: type[Interned]) -> Callable[[F], F]:
    """Decorator: the function that prints these classes of attributes, types or locations."""

    def register(function: F) -> F:
        for cls in classes:
            assert cls not in PRINT_FUNCTIONS
            PRINT_FUNCTIONS[cls] = function
        return function

    return register


def dialect_symbol(prefix: str, namespace: str, body: str) -> str:
    """`#namespace.body` if the body is a keyword, alone or before `<…>`; otherwise `#namespace<body>`."""
    if _PRETTY_SYMBOL.fullmatch(body):
        return f"{prefix}{namespace}.{body}"
    return f"{prefix}{namespace}<{body}>"


def comma_separated(elements: Sequence[Interned | str]) -> Parts:
    """The elements, comma-separated."""
    parts: Parts = []
    for element in elements:
        parts += (", ", element)
    return parts[1:]


def short_text(attribute: Attribute) -> str | None:
    """The text of an `i64` or `f64` attribute without its type; None if the type is needed.

    A float that is printed as hexadecimal bits needs it, because it would be parsed as an integer.
    """
    if isinstance(attribute, IntegerAttr) and attribute.type is I64:
        return str(attribute.value)
    if isinstance(attribute, FloatAttr) and attribute.type is F64:
        text = float_text(attribute.bits, F64.format)
        return None if text.startswith("0x") else text
    return None
