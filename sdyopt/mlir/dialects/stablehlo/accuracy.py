"""Result accuracy of transcendental functions: `#stablehlo.result_accuracy<…>`."""

from __future__ import annotations

from struct import pack, unpack

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.attribute_parsing import parse_attribute_of_class
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.constraints import of_class
from sdyopt.mlir.ir.floats import float_text
from sdyopt.mlir.ir.types import F64


@enumeration(stablehlo, "result_accuracy_mode", "DEFAULT", "HIGHEST", "TOLERANCE", is_bracketed=True)
class ResultAccuracyMode(EnumAttr):
    """The mode of a result accuracy. In modes other than `TOLERANCE`, all tolerances must be zero."""


class ResultAccuracy(Attribute):
    """`#stablehlo.result_accuracy<atol = 1.0e-5, ulps = 2, mode = …>`.

    `atol` and `rtol` are `f64` bit patterns, so that interned attributes compare exactly.
    """

    atol: int
    rtol: int
    ulps: int
    mode: ResultAccuracyMode
    dialect = "stablehlo"


DEFAULT_ACCURACY = ResultAccuracy(0, 0, 0, ResultAccuracyMode("DEFAULT"))
RESULT_ACCURACY = of_class(ResultAccuracy, "The requested accuracy for transcendental unary ops.")


@stablehlo.attribute("result_accuracy")
def _parse(parser: AsmParser) -> Attribute:
    parser.expect("<")
    atol, rtol = _parse_tolerance(parser, "atol"), _parse_tolerance(parser, "rtol")
    ulps = 0
    if parser.accept("ulps"):
        parser.expect("=")
        ulps = parser.integer()
        parser.expect(",")
    parser.expect("mode")
    parser.expect("=")
    mode = parse_attribute_of_class(parser, ResultAccuracyMode)
    parser.expect(">")
    offset = parser.skip_trivia()  # C++ verifies the attribute at the next token
    if ulps < 0 or _is_negative(atol) or _is_negative(rtol):
        raise parser.error("Negative tolerance", offset)
    if mode.value != "TOLERANCE" and (atol or rtol or ulps):
        raise parser.error(
            f"Invalid tolerances for ResultAccuracyAttr with mode {mode.value}, must be all zero.", offset
        )
    return ResultAccuracy(atol, rtol, ulps, mode)


def _parse_tolerance(parser: AsmParser, name: str) -> int:
    """Parses an optional `name = number,`; returns the number's `f64` bit pattern, or 0 if absent."""
    if not parser.accept(name):
        return 0
    parser.expect("=")
    value = parser.floating()
    parser.expect(",")
    return int(unpack("<Q", pack("<d", value))[0])


def _is_negative(bits: int) -> bool:
    return bool(bits >> 63)


@stablehlo.printer(ResultAccuracy)
def _print(attribute: ResultAccuracy, attribute_printer: AttributePrinter) -> str:
    entries = [
        f"{name} = {float_text(bits, F64.format)}"
        for name, bits in (("atol", attribute.atol), ("rtol", attribute.rtol))
        if bits
    ]
    if attribute.ulps:
        entries.append(f"ulps = {attribute.ulps}")
    entries.append(f"mode = {attribute_printer.attribute(attribute.mode)}")
    return f"result_accuracy<{', '.join(entries)}>"
