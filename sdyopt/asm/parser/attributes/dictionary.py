"""Parses dictionaries entry by entry, so that equal values are parsed once.

The arguments of a function may have thousands of dictionaries with few distinct values. Anything unusual, or
invalid, is parsed by the grammar instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sdyopt.asm.lexical import BARE_ID, WHITESPACE
from sdyopt.asm.parser.extent_scanner import attribute_extent
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.ir.attribute import UNIT, Attribute, DictAttr, dictionary

_KEY = re.compile(f"{WHITESPACE}({BARE_ID}){WHITESPACE}(?:(=){WHITESPACE})?")
_NEXT = re.compile(f"{WHITESPACE}([,}}])")


def dictionary_at(
    parse: Callable[[str, int], Attribute], text: str, start: int
) -> tuple[DictAttr, int] | None:
    """The dictionary whose brace opens at `start`, and its end; None if it needs the grammar.

    `parse` parses the text of an attribute at an offset.
    """
    entries: dict[str, Attribute] = {}
    position = start + 1
    while (key := _KEY.match(text, position)) is not None:
        position = key.end()
        value: Attribute = UNIT
        if key[2]:
            end = attribute_extent(text, position)
            try:
                value = parse(text[position:end], position)
            except DiagnosticError:
                return None
            position = end
        if key[1] in entries or (following := _NEXT.match(text, position)) is None:
            return None
        entries[key[1]] = value
        position = following.end()
        if following[1] == "}":
            return dictionary(entries), position
    return None
