"""Dot dimension numbers: the attribute, its assembly and checks, and the result shape of dot_general."""

from __future__ import annotations

from typing import Protocol

from sdyopt.mlir.asm.format.assembly_format import Custom
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.assembly_directives import print_list
from sdyopt.mlir.dialects.stablehlo.custom_struct import (
    DOT_ENTRIES,
    parse_custom_struct,
    parse_integer_list,
    print_custom_struct,
)
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.dimensions import Dimensions, check_distinct
from sdyopt.mlir.dialects.stablehlo.type_compatibility import dimensions_of, most_specific_dimension
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.constraints import of_class
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes
from sdyopt.mlir.ir.types import RankedTensor


class DotDimensions(Attribute):
    """`#stablehlo.dot<…>`: the batching and contracting dimensions of both operands."""

    lhs_batching: tuple[int, ...] = ()
    rhs_batching: tuple[int, ...] = ()
    lhs_contracting: tuple[int, ...] = ()
    rhs_contracting: tuple[int, ...] = ()
    dialect = "stablehlo"

    @property
    def batching(self) -> list[tuple[int, int]]:
        """Pairs of (lhs, rhs) batching dimensions."""
        return list(zip(self.lhs_batching, self.rhs_batching, strict=True))

    @property
    def contracting(self) -> list[tuple[int, int]]:
        """Pairs of (lhs, rhs) contracting dimensions."""
        return list(zip(self.lhs_contracting, self.rhs_contracting, strict=True))


DOT_DIMENSIONS = of_class(DotDimensions, "Attribute that models the dimension information for dot.")


@stablehlo.attribute("dot")
def _parse(parser: AsmParser) -> Attribute:
    parser.expect("<")
    values = parse_custom_struct(parser, "dot dimension numbers", DOT_ENTRIES)
    return DotDimensions(*(values.get(name, ()) for name in DOT_ENTRIES))


@stablehlo.printer(DotDimensions)
def _print(dims: DotDimensions, attribute_printer: AttributePrinter) -> str:
    values = (dims.lhs_batching, dims.rhs_batching, dims.lhs_contracting, dims.rhs_contracting)
    return print_custom_struct("dot", dict(zip(DOT_ENTRIES, values, strict=True)))


# --- Assembly of dot_general ------------------------------------------------------------------


def dot_dimensions_directive() -> Custom:
    """`batching_dims = [0] x [0], contracting_dims = [2] x [1]`; empty batching dimensions are omitted."""
    return Custom(_parse_directive, _write_directive, elides=["dot_dimension_numbers"])


def _parse_directive(op_parser: OpAsmParser) -> None:
    batching: tuple[tuple[int, ...], tuple[int, ...]] = (), ()
    if op_parser.accept("batching_dims"):
        op_parser.expect("=")
        batching = _parse_pair(op_parser)
        op_parser.expect(",")
    op_parser.expect("contracting_dims")
    op_parser.expect("=")
    op_parser.attributes["dot_dimension_numbers"] = DotDimensions(*batching, *_parse_pair(op_parser))


def _parse_pair(op_parser: OpAsmParser) -> tuple[tuple[int, ...], tuple[int, ...]]:
    lhs = parse_integer_list(op_parser)
    op_parser.expect("x")
    return lhs, parse_integer_list(op_parser)


def _write_directive(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    dims = signature.attributes["dot_dimension_numbers"]
    assert isinstance(dims, DotDimensions)
    if dims.lhs_batching or dims.rhs_batching:
        out.text(f" batching_dims = {print_list(dims.lhs_batching)} x {print_list(dims.rhs_batching)},")
    out.text(f" contracting_dims = {print_list(dims.lhs_contracting)} x {print_list(dims.rhs_contracting)}")


# --- Checks and inference ---------------------------------------------------------------------


class DotDimensionNumbers(Protocol):
    """The dot dimension numbers of stablehlo, chlo or mhlo."""

    @property
    def lhs_batching(self) -> tuple[int, ...]: ...
    @property
    def rhs_batching(self) -> tuple[int, ...]: ...
    @property
    def lhs_contracting(self) -> tuple[int, ...]: ...
    @property
    def rhs_contracting(self) -> tuple[int, ...]: ...


def check_dot_dimensions(
    signature: OpSignature, lhs: RankedTensor, rhs: RankedTensor, dims: DotDimensionNumbers
) -> None:
    """Checks that the dimension numbers are distinct, in range, and form pairs of compatible sizes."""
    if len(dims.lhs_batching) != len(dims.rhs_batching):  # dot_general_c1
        raise signature.error_without_op_note(
            "lhs and rhs should have the same number of batching dimensions"
        )
    if len(dims.lhs_contracting) != len(dims.rhs_contracting):  # dot_general_c2
        raise signature.error_without_op_note(
            "lhs and rhs should have the same number of contracting dimensions"
        )
    sides = (
        ("lhs", lhs, dims.lhs_batching, dims.lhs_contracting),
        ("rhs", rhs, dims.rhs_batching, dims.rhs_contracting),
    )
    for side, _, batching, contracting in sides:  # dot_general_c3, dot_general_c4
        names = f"{side}_batching_dimensions", f"{side}_contracting_dimensions"
        check_distinct(signature, batching, contracting, *names)
    for side, type, batching, contracting in sides:  # dot_general_c5 to dot_general_c8
        _check_in_range(signature, type.rank, batching, f"{side}_batching_dimensions")
        _check_in_range(signature, type.rank, contracting, f"{side}_contracting_dimensions")
    for kind, pairs in (  # dot_general_c9, dot_general_c10
        ("batching", zip(dims.lhs_batching, dims.rhs_batching, strict=True)),
        ("contracting", zip(dims.lhs_contracting, dims.rhs_contracting, strict=True)),
    ):
        for left, right in pairs:
            if not are_compatible_sizes(lhs.shape[left], rhs.shape[right]):
                raise signature.error_without_op_note(f"{kind} dimension sizes must match for lhs/rhs")


def _check_in_range(signature: OpSignature, rank: int, dimensions: Dimensions, name: str) -> None:
    for dimension in dimensions:
        if not 0 <= dimension < rank:
            raise signature.error_without_op_note(f"{name} value: {dimension} is out of range: [0, {rank})")


def dot_result_shape(
    signature: OpSignature, lhs: RankedTensor, rhs: RankedTensor, dims: DotDimensions
) -> list[int]:
    """The sizes of the batching dimensions, then of the free dimensions of lhs and of rhs."""
    lefts, rights = dimensions_of(lhs), dimensions_of(rhs)
    shape = [
        most_specific_dimension(signature, index, lefts[left], rights[right])[0]
        for index, (left, right) in enumerate(dims.batching)
    ]
    shape += free_sizes(lhs, dims.lhs_batching, dims.lhs_contracting)
    return shape + free_sizes(rhs, dims.rhs_batching, dims.rhs_contracting)


def free_sizes(type: RankedTensor, *lists: Dimensions) -> list[int]:
    """The sizes of the dimensions that are in none of the lists."""
    listed = {dimension for dimensions in lists for dimension in dimensions}
    return [size for dimension, size in enumerate(type.shape) if dimension not in listed]
