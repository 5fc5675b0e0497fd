"""The assembly of quantile types: `!quant.quantile<i1:f16, {-1.0,1.0}>`."""

from __future__ import annotations

from math import isfinite

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.quant.dialect import quant
from sdyopt.mlir.dialects.quant.type_parsing import bit_pattern
from sdyopt.mlir.dialects.quant.types import QuantileType
from sdyopt.mlir.ir.floats import float_text
from sdyopt.mlir.ir.types import F64, FloatType, IntegerType, Type


@quant.type("quantile")
def _parse(parser: AsmParser) -> Type:
    offset = parser.position - len("quantile")
    parser.expect("<")
    storage = parser.type()
    parser.expect(":")
    quantile = parser.type()
    parser.expect(",")
    values = parser.comma_list(parser.floating, "{", "}")
    limits = _parse_limits(parser) if parser.accept(",") else None
    parser.expect(">")
    error = _type_error(storage, quantile, values, limits)
    if error is not None:
        raise parser.error(error, offset)
    assert isinstance(quantile, FloatType)
    return QuantileType(storage, quantile, tuple(map(bit_pattern, values)), limits)


def _parse_limits(parser: AsmParser) -> tuple[int, int]:
    """Parses `<minimum:maximum>`."""
    parser.expect("<")
    minimum = parser.integer()
    parser.expect(":")
    maximum = parser.integer()
    parser.expect(">")
    return minimum, maximum


def _type_error(
    storage: Type, quantile: Type, values: list[float], limits: tuple[int, int] | None
) -> str | None:
    if not isinstance(storage, IntegerType | FloatType):
        return "storage type must be an integer or float type"
    if not isinstance(quantile, FloatType):
        return "quantile type must be a float type"
    if not values:
        return "quantile values must not be empty"
    if not all(map(isfinite, values)):
        return "quantile values must be finite (no NaN or infinity)"
    if limits is not None and limits[0] >= limits[1]:
        return "storage min must be less than storage max"
    count = 1 << storage.width if limits is None else limits[1] - limits[0] + 1
    if len(values) != count:
        return (
            f"quantile LUT size ({len(values)}) must equal the number of representable storage values "
            f"({count})"
        )
    return None


@quant.printer(QuantileType)
def _print(type: QuantileType, attribute_printer: AttributePrinter) -> str:
    values = ",".join(float_text(bits, F64.format) for bits in type.values)
    limits = f", <{type.limits[0]}:{type.limits[1]}>" if type.limits is not None else ""
    return (
        f"quantile<{attribute_printer.type(type.storage)}:{attribute_printer.type(type.quantile)},"
        f" {{{values}}}{limits}>"
    )
