"""Types and lists of integers as text in the diagnostics of stablehlo and chlo."""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.ir.types import Type


def quoted(type: Type) -> str:
    """A type in single quotes."""
    return f"'{plain_type(type)}'"


def quoted_all(types: Iterable[Type]) -> str:
    """Quoted types, separated by commas."""
    return ", ".join(map(quoted, types))


def listing(values: Iterable[int]) -> str:
    """Integers separated by commas, without brackets."""
    return ", ".join(map(str, values))
