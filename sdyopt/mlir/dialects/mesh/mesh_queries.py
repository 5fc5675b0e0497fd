"""Queries of the mesh shape and the device's position: mesh_shape, process_*_index."""

from __future__ import annotations

from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import AttrDict, TypeOf, assembly
from sdyopt.mlir.asm.format.directives import TypeOfClass
from sdyopt.mlir.dialects.mesh.assembly_directives import axes_clause, mesh_reference
from sdyopt.mlir.dialects.mesh.axes import AXES, NO_AXES
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.mesh_op import check_axes, find_mesh
from sdyopt.mlir.ir.constraints import FLAT_SYMBOL_ATTR, TypeConstraint
from sdyopt.mlir.ir.op_fields import attr, result, results
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import INDEX, IndexType, Type

INDEX_VALUE = TypeConstraint[Type]("index", lambda type: type is INDEX)


class AxesQuery(Op):
    """Base of the queries of axes: one result per axis in `axes` or, if `axes` is empty, per mesh axis."""

    __slots__ = ()

    mesh = attr(FLAT_SYMBOL_ATTR)
    axes = attr(AXES, default=NO_AXES)
    values = results(INDEX_VALUE)

    result_name: ClassVar[str]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, self.result_name)] if self.results else []

    def verify_symbol_uses(self) -> None:
        mesh_op = find_mesh(self, self.mesh)
        check_axes(self, mesh_op, self.axes)
        expected = len(self.axes) or mesh_op.rank
        if len(self.results) != expected:
            raise self.error(f"Unexpected number of results {len(self.results)}. Expected {expected}.")


@mesh.op("mesh_shape", PURE)
class MeshShapeOp(AxesQuery):
    """The sizes of mesh axes.

        %sizes:2 = mesh.mesh_shape @grid axes = [2, 0] : index, index

    Without `axes`, the sizes of all axes in order.
    """

    __slots__ = ()

    result_name = "mesh_shape"
    assembly = assembly(mesh_reference(), axes_clause("axes"), AttrDict(), ":", TypeOf("values"))


@mesh.op("process_multi_index", PURE)
class ProcessMultiIndexOp(AxesQuery):
    """The multi-index of the executing device along `axes`, by default along all axes of the mesh.

    %index:2 = mesh.process_multi_index on @grid axes = [2, 0] : index, index
    """

    __slots__ = ()

    result_name = "proc_linear_idx"
    assembly = assembly("on", mesh_reference(), axes_clause("axes"), AttrDict(), ":", TypeOf("values"))


@mesh.op("process_linear_index", PURE)
class ProcessLinearIndexOp(Op):
    """The linear index of the executing device, in row-major order.

        %index = mesh.process_linear_index on @grid : index

    On a mesh of shape 4x5x6, device (2, 3, 1) has the linear index (2 * 5 + 3) * 6 + 1.
    """

    __slots__ = ()

    mesh = attr(FLAT_SYMBOL_ATTR)
    value = result(INDEX_VALUE)

    assembly = assembly("on", mesh_reference(), AttrDict(), ":", TypeOfClass("value", IndexType))

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "proc_linear_idx")]

    def verify_symbol_uses(self) -> None:
        find_mesh(self, self.mesh)
