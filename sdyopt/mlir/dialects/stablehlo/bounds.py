"""Bounded dynamism: the size of dimension 0 of `tensor<?x4xf32, #stablehlo.bounds<8, ?>>` is at most 8.

Only a dynamic dimension can have a bound. `DYNAMIC` denotes a missing bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor, Type


class Bounds(Attribute):
    """`#stablehlo.bounds<8, ?>`: the encoding of a tensor type with bounded dimensions."""

    bounds: tuple[int, ...]
    dialect = "stablehlo"


def bounds_of(type: Type) -> tuple[int, ...]:
    """The bounds in a tensor type's encoding; empty if it has none."""
    encoding = type.encoding if isinstance(type, RankedTensor) else None
    return encoding.bounds if isinstance(encoding, Bounds) else ()


def verify_bounds(encoding: Attribute, type: RankedTensor) -> str | None:
    """The error message for a tensor type with invalid bounds, or None."""
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


stablehlo.verify_encoding = verify_bounds


def encoding_with(encoding: Attribute | None, bounds: Sequence[int]) -> Attribute | None:
    """The encoding of an inferred result type, from its bounds and the encoding of an operand.

    Empty `bounds` mean that the operands have no bounds: the operand's encoding is kept. If all bounds are
    missing, the result has no encoding.
    """
    if not bounds:
        return encoding
    if all(bound == DYNAMIC for bound in bounds):
        return None
    return Bounds(tuple(bounds))


def has_one_bounded_dimension(type: RankedTensor) -> bool:
    """Whether exactly one dimension is dynamic and it has a bound."""
    bounded = sum(bound != DYNAMIC for bound in bounds_of(type))
    return bounded == 1 and type.shape.count(DYNAMIC) == 1


def parse_dimension_size(parser: AsmParser) -> int:
    """Parses an integer, or `?` as `DYNAMIC`."""
    return DYNAMIC if parser.accept("?") else parser.integer()


def print_dimension_size(size: int) -> str:
    """The size, or `?` if dynamic."""
    return "?" if size == DYNAMIC else str(size)


@stablehlo.attribute("bounds")
def _parse(parser: AsmParser) -> Attribute:
    return Bounds(tuple(parser.comma_list(lambda: parse_dimension_size(parser), "<", ">")))


@stablehlo.attribute("type_extensions")
def _parse_type_extensions(parser: AsmParser) -> Attribute:
    """Parses `<bounds = [8, ?]>`, the older syntax, which is never printed."""
    parser.expect("<")
    parser.expect("bounds")
    parser.expect("=")
    bounds = parser.comma_list(lambda: parse_dimension_size(parser), "[", "]")
    parser.expect(">")
    return Bounds(tuple(bounds))


@stablehlo.printer(Bounds)
def _print(attribute: Bounds, attribute_printer: AttributePrinter) -> str:
    return f"bounds<{', '.join(map(print_dimension_size, attribute.bounds))}>"
