"""Collectives in which one device of each group is the root: broadcast, gather, reduce, scatter."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import AttrDict, FormatElement, assembly
from sdyopt.mlir.asm.format.directives import OperandsAndResultsType, has_operand_per_dynamic_index
from sdyopt.mlir.dialects.mesh.assembly_directives import device_clause, integer_clause, reduction_clause
from sdyopt.mlir.dialects.mesh.collective_base import (
    AXIS,
    DEVICE,
    EMPTY_MESH_AXES,
    NON_0_RANKED,
    RANKED,
    SAME_SHAPE_EXACTLY,
    Collective,
    check_device,
    check_gathered_shape,
    check_sliced_shape,
)
from sdyopt.mlir.dialects.mesh.collectives import INPUT_ON_MESH
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp
from sdyopt.mlir.dialects.mesh.mesh_queries import INDEX_VALUE
from sdyopt.mlir.dialects.mesh.reduction import REDUCTION, SUM
from sdyopt.mlir.ir.op_fields import attr, operand, operands, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import same_element_types, same_ranks
from sdyopt.mlir.ir.traits import PURE

SAME_INPUT_AND_RESULT_ELEMENT_TYPE = same_element_types("input", "result")
_SAME_INPUT_AND_RESULT_RANK = same_ranks("input", "result")
ATTRIBUTES_AND_TYPES: tuple[FormatElement | str, ...] = (AttrDict(), ":", OperandsAndResultsType())


class RootedCollective(Collective):
    """Base of the collectives with a root device: `root` has the root's index along each of `mesh_axes`."""

    __slots__ = ()

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_coordinates(signature, "root")


def check_coordinates(signature: OpSignature, name: str) -> None:
    """Raises unless there is one operand per dynamic index of the device attribute `name`."""
    if not has_operand_per_dynamic_index(signature, f"{name}_dynamic", name):
        raise signature.op_error("number of dynamic coordinates does not match the operands")


@mesh.op("broadcast", PURE, SAME_SHAPE_EXACTLY, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class BroadcastOp(RootedCollective):
    """Copies the tensor of the root to every device of its group.

    %1 = mesh.broadcast %0 on @grid mesh_axes = [1, 0] root = [2, %i]
      : (tensor<4xf32>, index) -> tensor<4xf32>
    """

    __slots__ = ()

    input = operand(RANKED)
    root = attr(DEVICE)
    root_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "broadcast"
    assembly = assembly(*INPUT_ON_MESH, *device_clause("root"), *ATTRIBUTES_AND_TYPES)
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "root", self.root)


@mesh.op("gather", PURE, _SAME_INPUT_AND_RESULT_RANK, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class GatherOp(RootedCollective):
    """Concatenates the tensors of each device group along `gather_axis`, on the root.

        %1 = mesh.gather %0 on @grid mesh_axes = [1] gather_axis = 1 root = [2]
          : (tensor<6x4xf32>) -> tensor<6x12xf32>

    The result is undefined on the other devices.
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    gather_axis = attr(AXIS)
    root = attr(DEVICE)
    root_dynamic = operands(INDEX_VALUE)
    result = result(NON_0_RANKED)

    result_name = "gather"
    assembly = assembly(
        *INPUT_ON_MESH, *integer_clause("gather_axis"), *device_clause("root"), *ATTRIBUTES_AND_TYPES
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "root", self.root)
        check_gathered_shape(self, mesh_op, self.gather_axis)


class ReduceOp(RootedCollective):
    """Reduces the tensors of each device group elementwise, on the root.

        %1 = mesh.reduce %0 on @grid mesh_axes = [1] reduction = <max> root = [2]
          : (tensor<4xf32>) -> tensor<4xf64>

    The result is undefined on the other devices.
    """

    __slots__ = ()

    input = operand(RANKED)
    reduction = attr(REDUCTION, default=SUM)
    root = attr(DEVICE)
    root_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "reduce"
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "root", self.root)


@mesh.op("reduce", PURE, SAME_SHAPE_EXACTLY)
class Reduce19Op(ReduceOp):
    """`reduce` with the syntax of LLVM 19."""

    __slots__ = ()

    assembly = assembly(*INPUT_ON_MESH, reduction_clause(), *device_clause("root"), *ATTRIBUTES_AND_TYPES)


@mesh.op("scatter", PURE, _SAME_INPUT_AND_RESULT_RANK, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class ScatterOp(RootedCollective):
    """Slices the tensor of the root along `scatter_axis`, one slice per device of the group.

    %1 = mesh.scatter %0 on @grid mesh_axes = [1] scatter_axis = 0 root = [1]
      : (tensor<6x4xf32>) -> tensor<2x4xf32>
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    scatter_axis = attr(AXIS)
    root = attr(DEVICE)
    root_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "scatter"
    assembly = assembly(
        *INPUT_ON_MESH, *integer_clause("scatter_axis"), *device_clause("root"), *ATTRIBUTES_AND_TYPES
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "root", self.root)
        check_sliced_shape(self, mesh_op, "Scatter", self.scatter_axis)
