"""Directives of assembly formats that the operations of the mesh dialect share."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import Attr, OptionalGroup
from sdyopt.mlir.asm.format.directives import DynamicIndexList, symbol_text
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.mesh.axes import parse_axes_attribute, print_axes
from sdyopt.mlir.dialects.mesh.reduction import parse_bracketed_reduction, print_bracketed_reduction
from sdyopt.mlir.dialects.mesh.sharding import parse_mesh_reference
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.types import I64, INDEX, Type


def mesh_reference() -> Attr:
    """`@mesh`."""
    return Attr(
        "mesh", parse_mesh_reference, lambda reference, attribute_printer: symbol_text(reference.root)
    )


def axes_clause(field: str) -> OptionalGroup:
    """`field = [axes]`, or nothing for an empty list."""
    return OptionalGroup(field, "=", Attr(field, parse_axes_attribute, print_axes), anchor=field)


def reduction_clause() -> OptionalGroup:
    """`reduction = <kind>`, or nothing for the default, the sum."""
    return OptionalGroup(
        "reduction",
        "=",
        Attr("reduction", parse_bracketed_reduction, print_bracketed_reduction),
        anchor="reduction",
    )


def integer_clause(field: str, type: Type = INDEX) -> tuple[str, str, Attr]:
    """`field = integer`."""

    def parse(op_parser: OpAsmParser) -> Attribute:
        offset = op_parser.skip_trivia()
        value = op_parser.attribute(type)
        if not isinstance(value, IntegerAttr):
            raise op_parser.error("invalid kind of attribute specified", offset)
        return integer(value.value, type)

    return (field, "=", Attr(field, parse, lambda attribute, attribute_printer: str(attribute.value)))


def offset_clause() -> tuple[str, str, Attr]:
    """`offset = integer`."""
    return integer_clause("offset", I64)


def device_clause(field: str) -> tuple[str, str, DynamicIndexList]:
    """`field = [%i, 2]`: the multi-index of a device in its group."""
    return (field, "=", DynamicIndexList(f"{field}_dynamic", field))
