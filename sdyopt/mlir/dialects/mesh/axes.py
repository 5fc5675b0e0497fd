"""Lists of mesh axes: `[0, 2]`, stored as `array<i16: 0, 2>`."""

from __future__ import annotations

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.constraints import AttrConstraint
from sdyopt.mlir.ir.types import I16

Axes = tuple[int, ...]

AXES: AttrConstraint[Axes] = AttrConstraint(
    "i16 dense array attribute",
    lambda a: isinstance(a, DenseArray) and a.element is I16,
    lambda a: a.values,
)
NO_AXES = DenseArray(I16, ())


def axes_attribute(axes: Axes) -> DenseArray:
    """The axes as an attribute."""
    return DenseArray(I16, axes)


def parse_axis(parser: AsmParser) -> int:
    """Parses a mesh axis; raises if it does not fit in 16 bits."""
    return parser.integer(16)


def parse_left_bracket(parser: AsmParser) -> None:
    """Parses `[`; as in MLIR, the error has no "custom op" prefix."""
    if not parser.accept("["):
        raise AsmParser.error(parser, "expected '['", parser.skip_trivia())


def parse_axes(parser: AsmParser) -> Axes:
    """Parses `[axis, …]`, which may be empty."""
    parse_left_bracket(parser)
    if parser.accept("]"):
        return ()
    axes = parser.comma_list(lambda: parse_axis(parser))
    parser.expect("]")
    return tuple(axes)


def parse_axes_attribute(parser: AsmParser) -> Attribute:
    """Parses `[axis, …]` to an attribute."""
    return axes_attribute(parse_axes(parser))


def axes_text(axes: Axes) -> str:
    """`[0, 2]`."""
    return f"[{', '.join(map(str, axes))}]"


def print_axes(attribute: DenseArray, _attribute_printer: AttributePrinter) -> str:
    """The text of an attribute: `[0, 2]`."""
    return axes_text(attribute.values)


def axes_error(axes: Axes) -> str | None:
    """The error in the axes of a sharding, all lists concatenated; None if they are valid."""
    used: set[int] = set()
    for axis in axes:
        if axis < 0:
            return "mesh axis is expected to be non-negative"
        if axis in used:
            return "mesh axis duplicated"
        used.add(axis)
    return None
