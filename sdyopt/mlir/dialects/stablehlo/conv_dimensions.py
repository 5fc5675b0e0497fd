"""Dimension numbers of a convolution: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.

The lists describe input, kernel and output. `b` and `f` mark the batch and feature dimensions, `i`
and `o` the kernel's input and output feature dimensions, and numbers the spatial dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.format.assembly_format import Attr
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.assembly_directives import print_list
from sdyopt.mlir.dialects.stablehlo.custom_struct import EntryParser, parse_custom_struct, parse_dimensions
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.constraints import of_class


class ConvDimensions(Attribute):
    """`#stablehlo.conv<…>`: the dimension index of each batch, feature and spatial dimension."""

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
        """The batch, feature and spatial dimensions of the output."""
        return (self.output_batch, self.output_feature, *self.output_spatial)


CONV_DIMENSIONS = of_class(ConvDimensions, "Structure of dimension information for conv op")

_RAW_ENTRIES: dict[str, EntryParser] = {
    "input_batch_dimension": AsmParser.integer,
    "input_feature_dimension": AsmParser.integer,
    "input_spatial_dimensions": parse_dimensions,
    "kernel_input_feature_dimension": AsmParser.integer,
    "kernel_output_feature_dimension": AsmParser.integer,
    "kernel_spatial_dimensions": parse_dimensions,
    "output_batch_dimension": AsmParser.integer,
    "output_feature_dimension": AsmParser.integer,
    "output_spatial_dimensions": parse_dimensions,
}
# The maximum number of missing spatial dimensions that a diagnostic lists.
_MAX_LISTED = 10


def conv_dimensions_attr(field: str) -> Attr:
    """The dimension numbers without mnemonic and angle brackets."""
    return Attr(field, _parse_lists, lambda dims, attribute_printer: _print_lists(dims))


@stablehlo.attribute("conv")
def _parse(parser: AsmParser) -> Attribute:
    parser.expect("<")
    if parser.accept("raw"):
        # As in StableHLO, the diagnostic names dot dimension numbers.
        values = parse_custom_struct(parser, "dot dimension numbers", _RAW_ENTRIES)
        defaults = {name: () if parse is parse_dimensions else 0 for name, parse in _RAW_ENTRIES.items()}
        return ConvDimensions(*(values.get(name, default) for name, default in defaults.items()))
    dims = _parse_lists(parser)
    parser.expect(">")
    return dims


@stablehlo.printer(ConvDimensions)
def _print(dims: ConvDimensions, attribute_printer: AttributePrinter) -> str:
    return f"conv<{_print_lists(dims)}>"


def _print_lists(dims: ConvDimensions) -> str:
    lists = (dims.input, "bf"), (dims.kernel, "io"), (dims.output, "bf")
    return "{}x{}->{}".format(*(_print_one_list(dimensions, letters) for dimensions, letters in lists))


def _print_one_list(dimensions: tuple[int, ...], letters: str) -> str:
    entries = ["0"] * len(dimensions)
    for dimension, name in zip(dimensions, (*letters, *range(len(dimensions))), strict=False):
        # The raw syntax can contain out-of-range dimensions, which this syntax cannot express.
        if 0 <= dimension < len(entries):
            entries[dimension] = str(name)
    return print_list(entries)


# --- Parsing ------------------------------------------------------------------------------------


def _parse_lists(parser: AsmParser) -> ConvDimensions:
    """Parses the lists of input, kernel and output."""
    input, input_spatial = _parse_one_list(parser, "bf")
    parser.expect("x")
    kernel, kernel_spatial = _parse_one_list(parser, "io")
    parser.expect("->")
    output, output_spatial = _parse_one_list(parser, "bf")
    return ConvDimensions(
        *(input["b"], input["f"], input_spatial),
        *(kernel["i"], kernel["o"], kernel_spatial),
        *(output["b"], output["f"], output_spatial),
    )


def _parse_one_list(parser: AsmParser, letters: str) -> tuple[dict[str, int], tuple[int, ...]]:
    """Parses one list; returns the dimension index of each letter, and the spatial dimensions."""
    parser.expect("[")
    non_spatial: dict[str, int] = {}
    spatial: dict[int, int] = {}
    index = 0
    while True:
        _parse_entry(parser, letters, index, non_spatial, spatial)
        index += 1
        if not parser.accept(","):
            break
    missing = [letter for letter in letters if letter not in non_spatial]
    if missing:
        raise parser.error(f"Expected dimensions {', '.join(missing)} not specified")
    parser.expect("]")
    return non_spatial, _spatial_dimensions(parser, spatial)


def _parse_entry(
    parser: AsmParser, letters: str, index: int, non_spatial: dict[str, int], spatial: dict[int, int]
) -> None:
    offset = parser.skip_trivia()
    number = parser.accept_integer()
    if number is not None:
        if number < 0:
            raise parser.error(f"Unexpected dimension {number}", offset)
        if number in spatial:
            raise parser.error(f"Duplicate entries for spatial dimension {number}", offset)
        spatial[number] = index
        return
    word = parser.keyword()
    expected = [letter for letter in letters if letter not in non_spatial]
    if word not in expected:
        raise _unexpected(parser, word, expected, offset)
    non_spatial[word] = index


def _unexpected(parser: AsmParser, word: str, expected: list[str], offset: int) -> DiagnosticError:
    if len(word) != 1 or not expected:
        return parser.error(f"Unexpected keyword {word}", offset)
    return parser.error(f"Unexpected dimension {word}, expecting {', '.join(expected)}", offset)


def _spatial_dimensions(parser: AsmParser, spatial: Mapping[int, int]) -> tuple[int, ...]:
    """The dimension indices of spatial dimensions 0, 1, …. Raises a DiagnosticError if one is missing."""
    count = max(spatial, default=-1) + 1
    if count != len(spatial):
        missing = [n for n in range(len(spatial) + _MAX_LISTED) if n < count and n not in spatial]
        listed = ", ".join(map(str, missing[:_MAX_LISTED]))
        raise parser.error(f"Expected spatial dimensions {listed} not specified")
    return tuple(spatial[n] for n in range(count))
