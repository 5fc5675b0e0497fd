"""How the type of indices into a list of numbers is written: `!quant.quantile<i1:f16, {-1.0,1.0}>`."""

from __future__ import annotations

from math import isfinite

from sdyopt.dialects.quant.text import bit_pattern, quant
from sdyopt.dialects.quant.types import QuantileType
from sdyopt.ir.floats import float_text
from sdyopt.ir.types import F64, FloatType, IntegerType, Type
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller


@quant.type("quantile")
def _parse(cursor: Cursor) -> Type:
    place = cursor.position - len("quantile")
    cursor.expect("<")
    storage = cursor.type()
    cursor.expect(":")
    quantile = cursor.type()
    cursor.expect(",")
    values = cursor.comma_list(cursor.floating, "{", "}")
    limits = _limits(cursor) if cursor.accept(",") else None
    cursor.expect(">")
    problem = _problem(storage, quantile, values, limits)
    if problem is not None:
        raise cursor.error(problem, place)
    assert isinstance(quantile, FloatType)
    return QuantileType(storage, quantile, tuple(map(bit_pattern, values)), limits)


def _limits(cursor: Cursor) -> tuple[int, int]:
    """Reads `<minimum:maximum>`."""
    cursor.expect("<")
    minimum = cursor.integer()
    cursor.expect(":")
    maximum = cursor.integer()
    cursor.expect(">")
    return minimum, maximum


def _problem(
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


@quant.spelling(QuantileType)
def _spell(type: QuantileType, speller: Speller) -> str:
    values = ",".join(float_text(bits, F64.format) for bits in type.values)
    limits = f", <{type.limits[0]}:{type.limits[1]}>" if type.limits is not None else ""
    return f"quantile<{speller.type(type.storage)}:{speller.type(type.quantile)}, {{{values}}}{limits}>"
