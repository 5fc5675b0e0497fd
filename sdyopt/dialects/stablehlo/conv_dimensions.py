"""What the dimensions of a convolution are: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.

Letters stand for batch and feature dimensions, the kernel's input and output features; numbers for
the spatial dimensions, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.asm.format.assembly_format import Attr
from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.stablehlo.assembly_directives import print_list
from sdyopt.dialects.stablehlo.custom_struct import dimension_list, number, parse_custom_struct
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import of_class


class ConvDimensions(Attribute):
    """`#stablehlo.conv<…>`: the dimension that each letter and number stands for."""

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]
    dialect = "stablehlo"

    @property
    def input(self) -> tuple[int, ...]:
        """The batch, feature and spatial dimensions of the input."""
        return (self.input_batch, self.input_feature, *self.input_spatial)

    @property
    def kernel(self) -> tuple[int, ...]:
        """The input feature, output feature and spatial dimensions of the kernel."""
        return (self.kernel_input_feature, self.kernel_output_feature, *self.kernel_spatial)

    @property
    def output(self) -> tuple[int, ...]:
        """The batch, feature and spatial dimensions of the result."""
        return (self.output_batch, self.output_feature, *self.output_spatial)


CONV_DIMENSIONS = of_class(ConvDimensions, "Structure of dimension information for conv op")

_RAW_ENTRIES = {
    "input_batch_dimension": number,
    "input_feature_dimension": number,
    "input_spatial_dimensions": dimension_list,
    "kernel_input_feature_dimension": number,
    "kernel_output_feature_dimension": number,
    "kernel_spatial_dimensions": dimension_list,
    "output_batch_dimension": number,
    "output_feature_dimension": number,
    "output_spatial_dimensions": dimension_list,
}
# How many missing numbers a message lists.
_MOST_MISSING = 10


def conv_dimensions_attr(field: str) -> Attr:
    """The dimension numbers, without mnemonic and brackets."""
    return Attr(field, _read, lambda dims, attribute_printer: _print_sides(dims))


@stablehlo.attribute("conv")
def _parse(parser: AsmParser) -> Attribute:
    parser.expect("<")
    if parser.accept("raw"):
        found = parse_custom_struct(parser, "dot dimension numbers", _RAW_ENTRIES)
        return ConvDimensions(
            *(found.get(name, () if read is dimension_list else 0) for name, read in _RAW_ENTRIES.items())
        )
    dims = _read(parser)
    parser.expect(">")
    return dims


@stablehlo.printer(ConvDimensions)
def _print(dims: ConvDimensions, attribute_printer: AttributePrinter) -> str:
    return f"conv<{_print_sides(dims)}>"


def _print_sides(dims: ConvDimensions) -> str:
    sides = (dims.input, "bf"), (dims.kernel, "io"), (dims.output, "bf")
    return "{}x{}->{}".format(*(_print_side(dimensions, letters) for dimensions, letters in sides))


def _print_side(dimensions: tuple[int, ...], letters: str) -> str:
    written = ["0"] * len(dimensions)
    for dimension, name in zip(dimensions, (*letters, *range(len(dimensions))), strict=False):
        # Numbers that name no dimension at all can be written down, but not like this.
        if 0 <= dimension < len(written):
            written[dimension] = str(name)
    return print_list(written)


# --- Reading ------------------------------------------------------------------------------------


def _read(parser: AsmParser) -> ConvDimensions:
    """Reads the three lists."""
    input, input_spatial = _parse_side(parser, "bf")
    parser.expect("x")
    kernel, kernel_spatial = _parse_side(parser, "io")
    parser.expect("->")
    output, output_spatial = _parse_side(parser, "bf")
    return ConvDimensions(
        *(input["b"], input["f"], input_spatial),
        *(kernel["i"], kernel["o"], kernel_spatial),
        *(output["b"], output["f"], output_spatial),
    )


def _parse_side(parser: AsmParser, letters: str) -> tuple[dict[str, int], tuple[int, ...]]:
    """Reads one list: where each letter stands, and where each number does."""
    parser.expect("[")
    lettered: dict[str, int] = {}
    numbered: dict[int, int] = {}
    index = 0
    while True:
        _parse_entry(parser, letters, index, lettered, numbered)
        index += 1
        if not parser.accept(","):
            break
    missing = [letter for letter in letters if letter not in lettered]
    if missing:
        raise parser.error(f"Expected dimensions {', '.join(missing)} not specified")
    parser.expect("]")
    return lettered, _spatial(parser, numbered)


def _parse_entry(
    parser: AsmParser, letters: str, index: int, lettered: dict[str, int], numbered: dict[int, int]
) -> None:
    offset = parser.skip_trivia()
    spatial = parser.accept_integer()
    if spatial is not None:
        if spatial < 0:
            raise parser.error(f"Unexpected dimension {spatial}", offset)
        if spatial in numbered:
            raise parser.error(f"Duplicate entries for spatial dimension {spatial}", offset)
        numbered[spatial] = index
        return
    word = parser.word()
    expected = [letter for letter in letters if letter not in lettered]
    if word not in expected:
        raise _unexpected(parser, word, expected, offset)
    lettered[word] = index


def _unexpected(parser: AsmParser, word: str, expected: list[str], offset: int) -> DiagnosticError:
    if len(word) != 1 or not expected:
        return parser.error(f"Unexpected keyword {word}", offset)
    return parser.error(f"Unexpected dimension {word}, expecting {', '.join(expected)}", offset)


def _spatial(parser: AsmParser, numbered: Mapping[int, int]) -> tuple[int, ...]:
    """Where the numbers stand, from 0 up, none of which may be missing."""
    count = max(numbered, default=-1) + 1
    if count != len(numbered):
        missing = [n for n in range(len(numbered) + _MOST_MISSING) if n < count and n not in numbered]
        listed = ", ".join(map(str, missing[:_MOST_MISSING]))
        raise parser.error(f"Expected spatial dimensions {listed} not specified")
    return tuple(numbered[n] for n in range(count))
