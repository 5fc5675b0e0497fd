"""How exact the result of a transcendental function has to be."""

from __future__ import annotations

from struct import pack, unpack

from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import of_class
from sdyopt.ir.floats import float_text
from sdyopt.ir.types import F64
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller


@enumeration(stablehlo, "result_accuracy_mode", "DEFAULT", "HIGHEST", "TOLERANCE", is_bracketed=True)
class ResultAccuracyMode(EnumAttr):
    """Whether tolerances say what is exact enough."""

    __slots__ = ()


class ResultAccuracy(Attribute):
    """`#stablehlo.result_accuracy<atol = 1.0e-5, ulps = 2, mode = …>`; floats are `f64` bit patterns."""

    atol: int
    rtol: int
    ulps: int
    mode: ResultAccuracyMode
    dialect = "stablehlo"


DEFAULT_ACCURACY = ResultAccuracy(0, 0, 0, ResultAccuracyMode("DEFAULT"))
RESULT_ACCURACY = of_class(ResultAccuracy, "The requested accuracy for transcendental unary ops.")


@stablehlo.attribute("result_accuracy")
def _parse(cursor: Cursor) -> Attribute:
    place = cursor.position - len("result_accuracy")
    cursor.expect("<")
    atol, rtol = _tolerance(cursor, "atol"), _tolerance(cursor, "rtol")
    ulps = 0
    if cursor.accept("ulps"):
        cursor.expect("=")
        ulps = cursor.integer()
        cursor.expect(",")
    cursor.expect("mode")
    cursor.expect("=")
    offset = cursor.skip()
    mode = cursor.attribute()
    if not isinstance(mode, ResultAccuracyMode):
        raise cursor.error("invalid kind of attribute specified", offset)
    cursor.expect(">")
    if ulps < 0 or _is_negative(atol) or _is_negative(rtol):
        raise cursor.error("Negative tolerance", place)
    if mode.value != "TOLERANCE" and (atol or rtol or ulps):
        raise cursor.error(
            f"Invalid tolerances for ResultAccuracyAttr with mode {mode.value}, must be all zero.", place
        )
    return ResultAccuracy(atol, rtol, ulps, mode)


def _tolerance(cursor: Cursor, name: str) -> int:
    """Reads `name = number,` if it is next, as a bit pattern."""
    if not cursor.accept(name):
        return 0
    cursor.expect("=")
    value = cursor.floating()
    cursor.expect(",")
    return int(unpack("<Q", pack("<d", value))[0])


def _is_negative(bits: int) -> bool:
    return bool(bits >> 63)


@stablehlo.spelling(ResultAccuracy)
def _spell(attribute: ResultAccuracy, speller: Speller) -> str:
    entries = [
        f"{name} = {float_text(bits, F64.format)}"
        for name, bits in (("atol", attribute.atol), ("rtol", attribute.rtol))
        if bits
    ]
    if attribute.ulps:
        entries.append(f"ulps = {attribute.ulps}")
    entries.append(f"mode = {speller.attribute(attribute.mode)}")
    return f"result_accuracy<{', '.join(entries)}>"
