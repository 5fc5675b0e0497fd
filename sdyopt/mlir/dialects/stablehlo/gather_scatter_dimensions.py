"""Dimension numbers of gather and scatter."""

from __future__ import annotations

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.custom_struct import (
    EntryParser,
    parse_custom_struct,
    parse_dimensions,
    print_custom_struct,
)
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.constraints import of_class


class GatherDimensions(Attribute):
    """`#stablehlo.gather<…>`. The fields have the names of its entries."""

    offset_dims: tuple[int, ...] = ()
    collapsed_slice_dims: tuple[int, ...] = ()
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()
    start_index_map: tuple[int, ...] = ()
    index_vector_dim: int = 0
    dialect = "stablehlo"


class ScatterDimensions(Attribute):
    """`#stablehlo.scatter<…>`. The fields have the names of its entries."""

    update_window_dims: tuple[int, ...] = ()
    inserted_window_dims: tuple[int, ...] = ()
    input_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()
    scatter_dims_to_operand_dims: tuple[int, ...] = ()
    index_vector_dim: int = 0
    dialect = "stablehlo"


GATHER_DIMENSIONS = of_class(GatherDimensions, "Attribute that models the dimension information for gather")
SCATTER_DIMENSIONS = of_class(
    ScatterDimensions, "Attribute that models the dimension information for scatter"
)

_GATHER_ENTRIES: dict[str, EntryParser] = {
    "offset_dims": parse_dimensions,
    "collapsed_slice_dims": parse_dimensions,
    "operand_batching_dims": parse_dimensions,
    "start_indices_batching_dims": parse_dimensions,
    "start_index_map": parse_dimensions,
    "index_vector_dim": AsmParser.integer,
}
_SCATTER_ENTRIES: dict[str, EntryParser] = {
    "update_window_dims": parse_dimensions,
    "inserted_window_dims": parse_dimensions,
    "input_batching_dims": parse_dimensions,
    "scatter_indices_batching_dims": parse_dimensions,
    "scatter_dims_to_operand_dims": parse_dimensions,
    "index_vector_dim": AsmParser.integer,
}


@stablehlo.attribute("gather")
def _parse_gather(parser: AsmParser) -> Attribute:
    parser.expect("<")
    return GatherDimensions(**parse_custom_struct(parser, "gather dimension numbers", _GATHER_ENTRIES))


@stablehlo.printer(GatherDimensions)
def _print_gather(dims: GatherDimensions, attribute_printer: AttributePrinter) -> str:
    return print_custom_struct("gather", {name: getattr(dims, name) for name in _GATHER_ENTRIES})


@stablehlo.attribute("scatter")
def _parse_scatter(parser: AsmParser) -> Attribute:
    parser.expect("<")
    return ScatterDimensions(**parse_custom_struct(parser, "scatter dimension numbers", _SCATTER_ENTRIES))


@stablehlo.printer(ScatterDimensions)
def _print_scatter(dims: ScatterDimensions, attribute_printer: AttributePrinter) -> str:
    return print_custom_struct("scatter", {name: getattr(dims, name) for name in _SCATTER_ENTRIES})
