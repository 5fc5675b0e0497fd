"""Replica groups given by a mesh: the devices along some of its axes make a group.

#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
"""

from __future__ import annotations

from typing import Any

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.asm.strings import escape
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.tablegen_struct import (
    Parameter,
    integer,
    parse_struct_parameter,
    parse_tablegen_struct,
)
from sdyopt.ir.attribute import ArrayAttr, Attribute, SymbolRef
from sdyopt.ir.elements_attributes import DenseElements
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import lookup_symbol
from sdyopt.ir.types import IndexType, IntegerType


class SubAxisInfo(Attribute):
    """`(1)2`: which part of an axis a sub-axis is."""

    pre_size: int
    size: int
    dialect = "stablehlo"


class AxisRef(Attribute):
    """An axis by name, or a sub-axis of it."""

    name: str
    sub_axis_info: SubAxisInfo | None = None
    dialect = "stablehlo"


class MeshAxis(Attribute):
    """An axis of a mesh."""

    name: str
    size: int
    dialect = "stablehlo"


class Mesh(Attribute):
    """Axes, and the devices along them if they do not simply count up."""

    axes: tuple[MeshAxis, ...]
    device_ids: DenseElements | None = None
    dialect = "stablehlo"


class ReplicaGroupMeshAxes(Attribute):
    """Groups of the devices along some axes of a mesh, which is given here or by name."""

    mesh: Mesh | SymbolRef
    axes: ArrayAttr
    dialect = "stablehlo"

    def verify_symbols(self, op: Op) -> None:
        """A mesh that is named is there."""
        if isinstance(self.mesh, SymbolRef) and lookup_symbol(op, self.mesh) is None:
            raise op.op_error(f"replica_groups: mesh symbol '{self.mesh.root}' not found")


def _problem(mesh: Attribute, axes: ArrayAttr) -> str | None:
    """What is wrong with axes of a mesh; axes of a mesh that is only named may be anything."""
    if not isinstance(mesh, Mesh):
        is_name = isinstance(mesh, SymbolRef) and not mesh.nested
        return None if is_name else "mesh must be a FlatSymbolRefAttr or MeshAttr"
    known = {axis.name for axis in mesh.axes}
    for axis in axes:
        if not isinstance(axis, AxisRef):
            return "expected AxisRefAttr in axes list"
        if axis.name not in known:
            return f"axis '{axis.name}' not found in mesh definition"
    return None


# --- Reading -----------------------------------------------------------------------------------


@stablehlo.attribute("sub_axis_info")
def _parse_sub_axis(parser: AsmParser) -> SubAxisInfo:
    parser.expect("(")
    pre_size = parse_struct_parameter(parser, "SubAxisInfo", "pre_size", "int64_t", integer)
    parser.expect(")")
    size = parse_struct_parameter(parser, "SubAxisInfo", "size", "int64_t", integer)
    return SubAxisInfo(pre_size, size)


def _sub_axis(parser: AsmParser) -> Attribute:
    """Reads a sub-axis, with or without its mnemonic."""
    if not _is_in_full(parser):
        return _parse_sub_axis(parser)
    return _of_class(parser, SubAxisInfo)


@stablehlo.attribute("axis_ref")
def _parse_axis(parser: AsmParser) -> AxisRef:
    return AxisRef(*parse_tablegen_struct(parser, "AxisRef", _AXIS_REF))


@stablehlo.attribute("mesh_axis")
def _parse_mesh_axis(parser: AsmParser) -> MeshAxis:
    return MeshAxis(*parse_tablegen_struct(parser, "MeshAxis", _MESH_AXIS))


@stablehlo.attribute("mesh")
def _parse_mesh(parser: AsmParser) -> Mesh:
    for token in ("<", "axes", "=", "["):
        parser.expect(token)
    axes = parse_struct_parameter(
        parser, "Mesh", "axes", "::llvm::ArrayRef<stablehlo::MeshAxisAttr>", _mesh_axes
    )
    parser.expect("]")
    device_ids = None
    if parser.accept(","):
        parser.expect("device_ids")
        parser.expect("=")
        device_ids = parse_struct_parameter(parser, "Mesh", "device_ids", "DenseIntElementsAttr", _device_ids)
    parser.expect(">")
    return Mesh(axes, device_ids)


def _mesh_axes(parser: AsmParser) -> tuple[Any, ...]:
    def one() -> Attribute:
        return _of_class(parser, MeshAxis) if _is_in_full(parser) else _parse_mesh_axis(parser)

    return tuple(parser.comma_list(one))


def _device_ids(parser: AsmParser) -> DenseElements:
    offset = parser.skip_trivia()
    found = parser.attribute()
    if not isinstance(found, DenseElements) or not isinstance(found.type.element, IntegerType | IndexType):
        raise parser.error("invalid kind of attribute specified", offset)
    return found


@stablehlo.attribute("replica_group_mesh_axes")
def _parse_groups(parser: AsmParser) -> ReplicaGroupMeshAxes:
    offset = parser.skip_trivia()
    mesh, axes = parse_tablegen_struct(parser, "ReplicaGroupMeshAxes", _GROUPS)
    problem = _problem(mesh, axes)
    if problem is not None:
        raise parser.error(problem, offset)
    return ReplicaGroupMeshAxes(mesh, axes)


def _is_in_full(parser: AsmParser) -> bool:
    """Whether an attribute stands here as it would anywhere, by itself or by an alias."""
    return parser.text.startswith("#", parser.skip_trivia())


def _of_class(parser: AsmParser, cls: type[Attribute]) -> Attribute:
    offset = parser.skip_trivia()
    found = parser.attribute()
    if not isinstance(found, cls):
        raise parser.error("invalid kind of attribute specified", offset)
    return found


_AXIS_REF = (
    Parameter("name", AsmParser.string, "::llvm::StringRef"),
    Parameter("sub_axis_info", _sub_axis, "SubAxisInfoAttr", is_optional=True),
)
_MESH_AXIS = (Parameter("name", AsmParser.string, "::llvm::StringRef"), Parameter("size", integer, "int64_t"))
_GROUPS = (
    Parameter("mesh", lambda parser: parser.attribute(), "Attribute"),
    Parameter("axes", lambda parser: _of_class(parser, ArrayAttr), "ArrayAttr"),
)


# --- Writing -----------------------------------------------------------------------------------


@stablehlo.printer(SubAxisInfo)
def _print_sub_axis(info: SubAxisInfo, attribute_printer: AttributePrinter) -> str:
    return f"sub_axis_info({info.pre_size}){info.size}"


@stablehlo.printer(AxisRef)
def _print_axis(axis: AxisRef, attribute_printer: AttributePrinter) -> str:
    info = axis.sub_axis_info
    part = "" if info is None else f", sub_axis_info = ({info.pre_size}){info.size}"
    return f'axis_ref<name = "{escape(axis.name)}"{part}>'


@stablehlo.printer(MeshAxis)
def _print_mesh_axis(axis: MeshAxis, attribute_printer: AttributePrinter) -> str:
    return f'mesh_axis<name = "{escape(axis.name)}", size = {axis.size}>'


@stablehlo.printer(Mesh)
def _print_mesh(mesh: Mesh, attribute_printer: AttributePrinter) -> str:
    axes = ", ".join(
        _print_mesh_axis(axis, attribute_printer).removeprefix("mesh_axis") for axis in mesh.axes
    )
    ids = "" if mesh.device_ids is None else f", device_ids={attribute_printer.attribute(mesh.device_ids)}"
    return f"mesh<axes=[{axes}]{ids}>"


@stablehlo.printer(ReplicaGroupMeshAxes)
def _print_groups(groups: ReplicaGroupMeshAxes, attribute_printer: AttributePrinter) -> str:
    mesh, axes = attribute_printer.attribute(groups.mesh), attribute_printer.attribute(groups.axes)
    return f"replica_group_mesh_axes<mesh = {mesh}, axes = {axes}>"
