"""Lists of mesh axes: `[0, 2]`, as attribute `array<i16: 0, 2>`."""

from __future__ import annotations

from typing import Any

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import AttrKind
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.types import I16

Axes = tuple[int, ...]

AXES: AttrKind[Axes] = AttrKind(
    "i16 dense array attribute",
    lambda a: isinstance(a, DenseArray) and a.element is I16,
    lambda a: a.values,
)
NO_AXES = DenseArray(I16, ())


def axes_attribute(axes: Axes) -> DenseArray:
    """The attribute that lists these axes."""
    return DenseArray(I16, axes)


def parse_axis(parser: AsmParser) -> int:
    """Takes the number of an axis."""
    return parser.integer(16)


def parse_left_bracket(parser: AsmParser) -> None:
    """Takes `[`."""
    if not parser.accept("["):
        raise AsmParser.error(parser, "expected '['", parser.skip_trivia())


def parse_axes(parser: AsmParser) -> Axes:
    """Takes `[axis, …]`, possibly empty."""
    parse_left_bracket(parser)
    if parser.accept("]"):
        return ()
    axes = parser.comma_list(lambda: parse_axis(parser))
    parser.expect("]")
    return tuple(axes)


def parse_axes_attribute(parser: AsmParser) -> Attribute:
    """Takes `[axis, …]` as an attribute."""
    return axes_attribute(parse_axes(parser))


def axes_text(axes: Axes) -> str:
    """`[0, 2]`."""
    return f"[{', '.join(map(str, axes))}]"


def print_axes(attribute: DenseArray, _attribute_printer: Any) -> str:
    """`[0, 2]`, of an attribute."""
    return axes_text(attribute.values)


def axes_problem(axes: Axes) -> str | None:
    """What is wrong with the axes of a sharding, all lists joined; None if nothing is."""
    seen: set[int] = set()
    for axis in axes:
        if axis < 0:
            return "mesh axis is expected to be non-negative"
        if axis in seen:
            return "mesh axis duplicated"
        seen.add(axis)
    return None
