"""Holes: values without content, with which what holds for all types, sizes or numbers is computed once.

A statement that is parsed with holes for its types is a form: it stands for all statements that differ from
it in nothing else (`asm/parser/statement_templates.py`). Reading a hole raises `HoleInspected`, so what does
not raise is the same for any content.
"""

from __future__ import annotations

from typing import Any, NoReturn, cast

from sdyopt.base.interning import derived_field, field_names, set_derived
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor


class HoleInspected(Exception):
    """The shape, element type or encoding of a hole, or the value of a number or size, has been read."""


class Hole(RankedTensor):
    """Any tensor type: its shape and element type cannot be read, and it is equal only to itself."""

    number: int = derived_field()


def _inspected(hole: object, *arguments: object) -> NoReturn:
    raise HoleInspected


for _name in field_names(RankedTensor):
    setattr(Hole, _name, property(_inspected))


def _hole(number: int) -> Hole:
    # Not by a call of the class, which returns the interned value of the fields.
    hole: Hole = object.__new__(cast(Any, Hole))
    set_derived(hole, number=number)
    return hole


# All holes, by number. A statement with more types has no form.
HOLES = tuple(map(_hole, range(200)))


class SizeHole:
    """The static size of a dimension, which is not 0 or 1. It can only be compared with other sizes."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SizeHole):
            return self is other
        # A comparison with an integer of any other type is one with a boolean.
        if type(other) is int and (other == DYNAMIC or 0 <= other <= 1):
            return False
        raise HoleInspected

    __hash__ = object.__hash__


# All size holes. The equal sizes of a signature with more are not looked for.
SIZE_HOLES = tuple(cast(int, SizeHole()) for _ in range(1000))


class NumberHole:
    """Any integer in the text of a statement: it can be passed on and printed, but its value cannot be read.

    It is hashed by its identity, because it is part of interned attributes.
    """

    __slots__ = ("number", "text")

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text

    def __str__(self) -> str:
        return self.text

    __hash__ = object.__hash__


_READERS = ("lt", "le", "gt", "ge", "bool", "index", "int", "float", "abs", "neg", "invert")
_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
)
_METHODS = [f"__{_name}__" for _name in (*_READERS, *_OPERATORS)] + [f"__r{_name}__" for _name in _OPERATORS]
for _name in _METHODS:
    setattr(SizeHole, _name, _inspected)
for _name in (*_METHODS, "__eq__", "__ne__"):
    setattr(NumberHole, _name, _inspected)
