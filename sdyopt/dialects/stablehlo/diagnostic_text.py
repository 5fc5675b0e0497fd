"""How diagnostics of stablehlo's verifiers print types and lists of integers."""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.asm.printer.attribute_printer import plain_type
from sdyopt.ir.types import Type


def quoted(type: Type) -> str:
    """A type in single quotes."""
    return f"'{plain_type(type)}'"


def quoted_all(types: Iterable[Type]) -> str:
    """Quoted types, separated by commas."""
    return ", ".join(map(quoted, types))


def listing(values: Iterable[int]) -> str:
    """Integers separated by commas, without brackets."""
    return ", ".join(map(str, values))
