"""Bounded dynamism: `tensor<?x4xf32, #stablehlo.bounds<8, ?>>` has at most eight rows.

A bound belongs to a dimension of unknown size. `DYNAMIC` stands for a missing bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.types import DYNAMIC, RankedTensor, Type


class Bounds(Attribute):
    """`#stablehlo.bounds<8, ?>`: the encoding of a tensor type whose dimensions have bounds."""

    bounds: tuple[int, ...]
    dialect = "stablehlo"


def bounds_of(type: Type) -> tuple[int, ...]:
    """The bounds that a tensor type carries; empty if it carries none."""
    encoding = type.encoding if isinstance(type, RankedTensor) else None
    return encoding.bounds if isinstance(encoding, Bounds) else ()


def check_bounds(encoding: Attribute, type: RankedTensor) -> str | None:
    """What is wrong with a tensor type's bounds, if anything."""
    if not isinstance(encoding, Bounds):
        return None
    bounds = encoding.bounds
    if len(bounds) != type.rank:
        return f"Bounds length is {len(bounds)}, expected to be equal to rank({type.rank}) of the tensor "
    for index, (bound, size) in enumerate(zip(bounds, type.shape, strict=True)):
        if bound != DYNAMIC and size != DYNAMIC:
            return (
                f"Static dimension {index} cannot have a bound, use ShapedType::kDynamic to indicate a "
                "missing bound in tensor "
            )
    return None


stablehlo.verify_encoding = check_bounds


def encoding_with(encoding: Attribute | None, bounds: Sequence[int]) -> Attribute | None:
    """The encoding of a result made from operands with `encoding`.

    No bounds at all say that nothing was bounded, and the encoding stays; bounds that all are
    missing leave none.
    """
    if not bounds:
        return encoding
    if all(bound == DYNAMIC for bound in bounds):
        return None
    return Bounds(tuple(bounds))


def has_one_bounded_dimension(type: RankedTensor) -> bool:
    """Whether just one dimension is of unknown size, and that one has a bound."""
    bounded = sum(bound != DYNAMIC for bound in bounds_of(type))
    return bounded == 1 and type.shape.count(DYNAMIC) == 1


def dimension_size(parser: AsmParser) -> int:
    """Reads a size or `?`."""
    return DYNAMIC if parser.accept("?") else parser.integer()


def print_size(size: int) -> str:
    """A size, or `?` where it is not known."""
    return "?" if size == DYNAMIC else str(size)


@stablehlo.attribute("bounds")
def _parse(parser: AsmParser) -> Attribute:
    return Bounds(tuple(parser.comma_list(lambda: dimension_size(parser), "<", ">")))


@stablehlo.attribute("type_extensions")
def _parse_long_form(parser: AsmParser) -> Attribute:
    """Reads `<bounds = [8, ?]>`, which nobody writes."""
    parser.expect("<")
    parser.expect("bounds")
    parser.expect("=")
    bounds = parser.comma_list(lambda: dimension_size(parser), "[", "]")
    parser.expect(">")
    return Bounds(tuple(bounds))


@stablehlo.printer(Bounds)
def _print(attribute: Bounds, attribute_printer: AttributePrinter) -> str:
    return f"bounds<{', '.join(map(print_size, attribute.bounds))}>"
