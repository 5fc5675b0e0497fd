"""Parses numbers in `dense<…>` that are written as MLIR prints them: `[[1, 2], [3, 4]]`, or `1`.

Splitting at the separators takes a fraction of the time of a parser, which matters for big constants. All
other lists are decoded by `element_literals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sdyopt.asm.parser.attributes.numbers import pack_floats, pack_integers
from sdyopt.ir.elements_attributes import DenseElements, dense
from sdyopt.ir.numeric_attributes import wrapped
from sdyopt.ir.types import FloatType, IndexType, IntegerType, RankedShapedType

_MAX_LENGTH = 30
_INTEGER_CHARACTERS, _FLOAT_CHARACTERS = b"0123456789-, []", b"0123456789-+.eE, []"


def printed_elements(text: str, type: RankedShapedType) -> DenseElements | None:
    """The attribute of these numbers; None for any other text or type, and if there is an error."""
    element, shape, count = type.element, type.shape, type.num_elements
    if text.startswith('"') or not text.isascii():
        return None
    if not text.startswith("["):
        # A splat.
        text, shape, count = f"[{text}]", (1,), 1
    if isinstance(element, FloatType):
        numbers = _split(text, shape) if _has_only_floats(text, count) else None
    elif isinstance(element, IntegerType | IndexType):
        numbers = _split(text, shape) if _has_only_integers(text) else None
    else:
        return None
    # The time to convert a long number is quadratic.
    if numbers is None or max(map(len, numbers)) > _MAX_LENGTH:
        return None
    try:
        if isinstance(element, FloatType):
            return dense(type, pack_floats(numbers, element))
        values = list(map(int, numbers))
    except ValueError:
        return None
    if wrapped(low := min(values), element) != low or wrapped(high := max(values), element) != high:
        return None
    return dense(type, pack_integers(values, element))


def _split(text: str, shape: Sequence[int]) -> list[str] | None:
    """The elements of a nested list of this shape; None if the text is not such a list.

    An element is any text between separators.
    """
    rank = len(shape)
    if not (text.startswith("[" * rank) and text.endswith("]" * rank)):
        return None
    parts = [text[rank:-rank]]
    for depth, size in enumerate(shape, 1):
        separator = "]" * (rank - depth) + ", " + "[" * (rank - depth)
        lists = [part.split(separator) for part in parts]
        if any(len(items) != size for items in lists):
            return None
        parts = lists[0] if len(lists) == 1 else list(chain.from_iterable(lists))
    return parts


def _has_only_integers(text: str) -> bool:
    """Whether MLIR accepts the integers in the text that Python accepts; for MLIR `-0` is out of range."""
    return not text.encode().translate(None, _INTEGER_CHARACTERS) and "-0" not in text


def _has_only_floats(text: str, count: int) -> bool:
    """Whether MLIR accepts the `count` floats in the text that Python accepts.

    For MLIR, each has one dot, after a digit, and no `+` except in the exponent.
    """
    return (
        not text.encode().translate(None, _FLOAT_CHARACTERS)
        and text.count(".") == count
        and not any(start + "." in text for start in "[- ")
        and text.count("+") == text.count("e+") + text.count("E+")
    )
