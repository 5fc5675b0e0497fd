"""Replica groups given by a mesh: the devices along some of its axes make a group.

#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
"""

from __future__ import annotations

from typing import Any

from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.structs import Parameter, integer, read_parameter, read_struct
from sdyopt.ir.attribute import ArrayAttr, Attribute, SymbolRef
from sdyopt.ir.elements_attributes import DenseElements
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import lookup_symbol
from sdyopt.ir.types import IndexType, IntegerType
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller
from sdyopt.syntax.strings import escape


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
def _parse_sub_axis(cursor: Cursor) -> SubAxisInfo:
    cursor.expect("(")
    pre_size = read_parameter(cursor, "SubAxisInfo", "pre_size", "int64_t", integer)
    cursor.expect(")")
    size = read_parameter(cursor, "SubAxisInfo", "size", "int64_t", integer)
    return SubAxisInfo(pre_size, size)


def _sub_axis(cursor: Cursor) -> Attribute:
    """Reads a sub-axis, with or without its mnemonic."""
    if not _is_in_full(cursor):
        return _parse_sub_axis(cursor)
    return _of_class(cursor, SubAxisInfo)


@stablehlo.attribute("axis_ref")
def _parse_axis(cursor: Cursor) -> AxisRef:
    return AxisRef(*read_struct(cursor, "AxisRef", _AXIS_REF))


@stablehlo.attribute("mesh_axis")
def _parse_mesh_axis(cursor: Cursor) -> MeshAxis:
    return MeshAxis(*read_struct(cursor, "MeshAxis", _MESH_AXIS))


@stablehlo.attribute("mesh")
def _parse_mesh(cursor: Cursor) -> Mesh:
    for token in ("<", "axes", "=", "["):
        cursor.expect(token)
    axes = read_parameter(cursor, "Mesh", "axes", "::llvm::ArrayRef<stablehlo::MeshAxisAttr>", _mesh_axes)
    cursor.expect("]")
    device_ids = None
    if cursor.accept(","):
        cursor.expect("device_ids")
        cursor.expect("=")
        device_ids = read_parameter(cursor, "Mesh", "device_ids", "DenseIntElementsAttr", _device_ids)
    cursor.expect(">")
    return Mesh(axes, device_ids)


def _mesh_axes(cursor: Cursor) -> tuple[Any, ...]:
    def one() -> Attribute:
        return _of_class(cursor, MeshAxis) if _is_in_full(cursor) else _parse_mesh_axis(cursor)

    return tuple(cursor.comma_list(one))


def _device_ids(cursor: Cursor) -> DenseElements:
    offset = cursor.skip()
    found = cursor.attribute()
    if not isinstance(found, DenseElements) or not isinstance(found.type.element, IntegerType | IndexType):
        raise cursor.error("invalid kind of attribute specified", offset)
    return found


@stablehlo.attribute("replica_group_mesh_axes")
def _parse_groups(cursor: Cursor) -> ReplicaGroupMeshAxes:
    offset = cursor.skip()
    mesh, axes = read_struct(cursor, "ReplicaGroupMeshAxes", _GROUPS)
    problem = _problem(mesh, axes)
    if problem is not None:
        raise cursor.error(problem, offset)
    return ReplicaGroupMeshAxes(mesh, axes)


def _is_in_full(cursor: Cursor) -> bool:
    """Whether an attribute stands here as it would anywhere, by itself or by an alias."""
    return cursor.text.startswith("#", cursor.skip())


def _of_class(cursor: Cursor, cls: type[Attribute]) -> Attribute:
    offset = cursor.skip()
    found = cursor.attribute()
    if not isinstance(found, cls):
        raise cursor.error("invalid kind of attribute specified", offset)
    return found


_AXIS_REF = (
    Parameter("name", Cursor.string, "::llvm::StringRef"),
    Parameter("sub_axis_info", _sub_axis, "SubAxisInfoAttr", is_optional=True),
)
_MESH_AXIS = (Parameter("name", Cursor.string, "::llvm::StringRef"), Parameter("size", integer, "int64_t"))
_GROUPS = (
    Parameter("mesh", lambda cursor: cursor.attribute(), "Attribute"),
    Parameter("axes", lambda cursor: _of_class(cursor, ArrayAttr), "ArrayAttr"),
)


# --- Writing -----------------------------------------------------------------------------------


@stablehlo.spelling(SubAxisInfo)
def _spell_sub_axis(info: SubAxisInfo, speller: Speller) -> str:
    return f"sub_axis_info({info.pre_size}){info.size}"


@stablehlo.spelling(AxisRef)
def _spell_axis(axis: AxisRef, speller: Speller) -> str:
    info = axis.sub_axis_info
    part = "" if info is None else f", sub_axis_info = ({info.pre_size}){info.size}"
    return f'axis_ref<name = "{escape(axis.name)}"{part}>'


@stablehlo.spelling(MeshAxis)
def _spell_mesh_axis(axis: MeshAxis, speller: Speller) -> str:
    return f'mesh_axis<name = "{escape(axis.name)}", size = {axis.size}>'


@stablehlo.spelling(Mesh)
def _spell_mesh(mesh: Mesh, speller: Speller) -> str:
    axes = ", ".join(_spell_mesh_axis(axis, speller).removeprefix("mesh_axis") for axis in mesh.axes)
    ids = "" if mesh.device_ids is None else f", device_ids={speller.attribute(mesh.device_ids)}"
    return f"mesh<axes=[{axes}]{ids}>"


@stablehlo.spelling(ReplicaGroupMeshAxes)
def _spell_groups(groups: ReplicaGroupMeshAxes, speller: Speller) -> str:
    mesh, axes = speller.attribute(groups.mesh), speller.attribute(groups.axes)
    return f"replica_group_mesh_axes<mesh = {mesh}, axes = {axes}>"
