"""Replica groups given by mesh axes: devices whose positions differ only along these axes form a group.

#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
"""

from __future__ import annotations

from sdyopt.mlir.asm.lexical import escape
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.attribute_parsing import is_full_attribute, parse_attribute_of_class
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.tablegen_struct import (
    Parameter,
    parse_struct_parameter,
    parse_tablegen_struct,
)
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, SymbolRef
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import IndexType, IntegerType


class SubAxisInfo(Attribute):
    """`(1)2`: the pre-size and size of a sub-axis."""

    pre_size: int
    size: int
    dialect = "stablehlo"


class AxisRef(Attribute):
    """A reference to an axis or sub-axis by name."""

    name: str
    sub_axis_info: SubAxisInfo | None = None
    dialect = "stablehlo"


class MeshAxis(Attribute):
    """A named axis of a mesh and its size."""

    name: str
    size: int
    dialect = "stablehlo"


class Mesh(Attribute):
    """The axes of a mesh, and its device ids, by default an iota."""

    axes: tuple[MeshAxis, ...]
    device_ids: DenseElements | None = None
    dialect = "stablehlo"


class ReplicaGroupMeshAxes(Attribute):
    """Axes of a mesh, which is inlined or referenced by symbol."""

    mesh: Mesh | SymbolRef
    axes: ArrayAttr
    dialect = "stablehlo"

    def verify_symbols(self, op: Op) -> None:
        """Checks that the symbol of a referenced mesh exists."""
        if isinstance(self.mesh, SymbolRef) and lookup_symbol(op, self.mesh) is None:
            raise op.op_error(f"replica_groups: mesh symbol '{self.mesh.root}' not found")


def _verify(mesh: Attribute, axes: ArrayAttr) -> str | None:
    """The error message for an invalid mesh or axes, or None. Axes of a referenced mesh are not checked."""
    if not isinstance(mesh, Mesh):
        is_symbol = isinstance(mesh, SymbolRef) and not mesh.nested
        return None if is_symbol else "mesh must be a FlatSymbolRefAttr or MeshAttr"
    names = {axis.name for axis in mesh.axes}
    for axis in axes:
        if not isinstance(axis, AxisRef):
            return "expected AxisRefAttr in axes list"
        if axis.name not in names:
            return f"axis '{axis.name}' not found in mesh definition"
    return None


# --- Parsing -----------------------------------------------------------------------------------


@stablehlo.attribute("sub_axis_info")
def _parse_sub_axis(parser: AsmParser) -> SubAxisInfo:
    parser.expect("(")
    pre_size = parse_struct_parameter(parser, "SubAxisInfo", "pre_size", "int64_t", AsmParser.integer)
    parser.expect(")")
    size = parse_struct_parameter(parser, "SubAxisInfo", "size", "int64_t", AsmParser.integer)
    return SubAxisInfo(pre_size, size)


def _parse_sub_axis_parameter(parser: AsmParser) -> SubAxisInfo:
    """Parses a sub-axis, with or without its mnemonic."""
    if is_full_attribute(parser):
        return parse_attribute_of_class(parser, SubAxisInfo)
    return _parse_sub_axis(parser)


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
        parser, "Mesh", "axes", "::llvm::ArrayRef<stablehlo::MeshAxisAttr>", _parse_mesh_axes
    )
    parser.expect("]")
    device_ids = None
    if parser.accept(","):
        parser.expect("device_ids")
        parser.expect("=")
        device_ids = parse_struct_parameter(
            parser, "Mesh", "device_ids", "DenseIntElementsAttr", _parse_device_ids
        )
    parser.expect(">")
    return Mesh(axes, device_ids)


def _parse_mesh_axes(parser: AsmParser) -> tuple[MeshAxis, ...]:
    def parse_axis() -> MeshAxis:
        return (
            parse_attribute_of_class(parser, MeshAxis)
            if is_full_attribute(parser)
            else _parse_mesh_axis(parser)
        )

    return tuple(parser.comma_list(parse_axis))


def _parse_device_ids(parser: AsmParser) -> DenseElements:
    offset = parser.skip_trivia()
    ids = parser.attribute()
    if not isinstance(ids, DenseElements) or not isinstance(ids.type.element, IntegerType | IndexType):
        raise parser.error("invalid kind of attribute specified", offset)
    return ids


@stablehlo.attribute("replica_group_mesh_axes")
def _parse_groups(parser: AsmParser) -> ReplicaGroupMeshAxes:
    offset = parser.skip_trivia()
    mesh, axes = parse_tablegen_struct(parser, "ReplicaGroupMeshAxes", _GROUPS)
    message = _verify(mesh, axes)
    if message is not None:
        raise parser.error(message, offset)
    return ReplicaGroupMeshAxes(mesh, axes)


_AXIS_REF = (
    Parameter("name", AsmParser.string, "::llvm::StringRef"),
    Parameter("sub_axis_info", _parse_sub_axis_parameter, "SubAxisInfoAttr", is_optional=True),
)
_MESH_AXIS = (
    Parameter("name", AsmParser.string, "::llvm::StringRef"),
    Parameter("size", AsmParser.integer, "int64_t"),
)
_GROUPS = (
    Parameter("mesh", lambda parser: parser.attribute(), "Attribute"),
    Parameter("axes", lambda parser: parse_attribute_of_class(parser, ArrayAttr), "ArrayAttr"),
)


# --- Printing ----------------------------------------------------------------------------------


@stablehlo.printer(SubAxisInfo)
def _print_sub_axis(info: SubAxisInfo, attribute_printer: AttributePrinter) -> str:
    return f"sub_axis_info({info.pre_size}){info.size}"


@stablehlo.printer(AxisRef)
def _print_axis(axis: AxisRef, attribute_printer: AttributePrinter) -> str:
    info = axis.sub_axis_info
    sub_axis = "" if info is None else f", sub_axis_info = ({info.pre_size}){info.size}"
    return f'axis_ref<name = "{escape(axis.name)}"{sub_axis}>'


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
