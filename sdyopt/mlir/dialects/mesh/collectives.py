"""Collectives without a root: all_gather, all_reduce, all_slice, all_to_all, reduce_scatter."""

from __future__ import annotations

from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import AttrDict, FormatElement, Operand, assembly
from sdyopt.mlir.asm.format.directives import TypeOfClass
from sdyopt.mlir.dialects.mesh.assembly_directives import (
    axes_clause,
    integer_clause,
    mesh_reference,
    reduction_clause,
)
from sdyopt.mlir.dialects.mesh.collective_base import (
    AXIS,
    EMPTY_MESH_AXES,
    NON_0_RANKED,
    RANKED,
    SAME_RANK,
    Collective,
    check_axis,
    check_gathered_shape,
    check_size,
    check_sliced_shape,
    check_unchanged_sizes,
    gathered_size,
    shard_size,
)
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp
from sdyopt.mlir.dialects.mesh.reduction import REDUCTION, SUM, Reduction
from sdyopt.mlir.ir.op_fields import attr, operand, result
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE, SAME_SHAPE
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import RankedTensor, ShapedType

INPUT_ON_MESH: tuple[FormatElement | str, ...] = (
    Operand("input"),
    "on",
    mesh_reference(),
    axes_clause("mesh_axes"),
)
_ATTRIBUTES_AND_INPUT_TYPE: tuple[FormatElement | str, ...] = (
    AttrDict(),
    ":",
    TypeOfClass("input", ShapedType),
    "->",
)
ATTRIBUTES_AND_RANKED_TYPES: tuple[FormatElement | str, ...] = (
    AttrDict(),
    ":",
    TypeOfClass("input", RankedTensor),
    "->",
    TypeOfClass("result", RankedTensor),
)


@mesh.op("all_gather", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllGatherOp(Collective):
    """Concatenates the tensors of each device group along `gather_axis`, on every device.

    %1 = mesh.all_gather %0 on @grid mesh_axes = [1] gather_axis = 0
      : tensor<2x4xf32> -> tensor<6x4xf32>
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    gather_axis = attr(AXIS)
    result = result(NON_0_RANKED)

    result_name = "all_gather"
    assembly = assembly(
        *INPUT_ON_MESH,
        *integer_clause("gather_axis"),
        *_ATTRIBUTES_AND_INPUT_TYPE,
        TypeOfClass("result", ShapedType),
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_gathered_shape(self, mesh_op, self.gather_axis)


class AllReduceOp(Collective):
    """Reduces the tensors of each device group elementwise, on every device.

        %1 = mesh.all_reduce %0 on @grid mesh_axes = [0] reduction = <max>
          : tensor<4xf32> -> tensor<4xf64>

    Elements are converted to the element type of the result first. The default reduction is the sum.
    """

    __slots__ = ()

    input = operand(RANKED)
    reduction = attr(REDUCTION, default=SUM)
    result = result(RANKED)

    result_name = "all_reduce"
    canonicalizations = (EMPTY_MESH_AXES,)
    reduction_class: ClassVar[type[Reduction]] = Reduction


@mesh.op("all_reduce", PURE, SAME_SHAPE)
class AllReduce19Op(AllReduceOp):
    """`all_reduce` with the syntax of LLVM 19."""

    __slots__ = ()

    assembly = assembly(*INPUT_ON_MESH, reduction_clause(), *ATTRIBUTES_AND_RANKED_TYPES)


@mesh.op("all_slice", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllSliceOp(Collective):
    """Slices the tensor of each device along `slice_axis`: the inverse of all_gather.

    %1 = mesh.all_slice %0 on @grid mesh_axes = [1] slice_axis = 0
      : tensor<6x4xf32> -> tensor<2x4xf32>
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    slice_axis = attr(AXIS)
    result = result(NON_0_RANKED)

    result_name = "all_slice"
    assembly = assembly(
        *INPUT_ON_MESH,
        *integer_clause("slice_axis"),
        *_ATTRIBUTES_AND_INPUT_TYPE,
        TypeOfClass("result", ShapedType),
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_sliced_shape(self, mesh_op, "Slice", self.slice_axis)


@mesh.op("all_to_all", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllToAllOp(Collective):
    """Splits each tensor along `split_axis`, exchanges the slices within the device group, and
    concatenates the received slices along `concat_axis`.

        %1 = mesh.all_to_all %0 on @grid mesh_axes = [0] split_axis = 0 concat_axis = 1
          : tensor<6x4xf32> -> tensor<3x8xf32>
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    split_axis = attr(AXIS)
    concat_axis = attr(AXIS)
    result = result(NON_0_RANKED)

    result_name = "all_to_all"
    assembly = assembly(
        *INPUT_ON_MESH,
        *integer_clause("split_axis"),
        *integer_clause("concat_axis"),
        *_ATTRIBUTES_AND_INPUT_TYPE,
        TypeOfClass("result", ShapedType),
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        split, concat = self.split_axis, self.concat_axis
        check_axis(self, "Split", split)
        check_axis(self, "Concat", concat)
        if split == concat:
            check_unchanged_sizes(self)
            return
        check_unchanged_sizes(self, split, concat)
        operand_shape, result_shape = self.shapes()
        count = mesh_op.group_size(self.mesh_axes)
        check_size(self, concat, gathered_size(operand_shape[concat], count), result_shape[concat])
        check_size(self, split, shard_size(operand_shape[split], count), result_shape[split])


class ReduceScatterOp(Collective):
    """Reduces the tensors of each device group elementwise, and slices the result along `scatter_axis`.

    %1 = mesh.reduce_scatter %0 on @grid mesh_axes = [1] reduction = <max> scatter_axis = 0
      : tensor<6x4xf32> -> tensor<2x4xf32>
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    reduction = attr(REDUCTION, default=SUM)
    scatter_axis = attr(AXIS)
    result = result(RANKED)

    result_name = "reduce_scatter"
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_sliced_shape(self, mesh_op, "Scatter", self.scatter_axis)


@mesh.op("reduce_scatter", PURE, SAME_RANK)
class ReduceScatter19Op(ReduceScatterOp):
    """`reduce_scatter` with the syntax of LLVM 19."""

    __slots__ = ()

    assembly = assembly(
        *INPUT_ON_MESH,
        reduction_clause(),
        *integer_clause("scatter_axis"),
        *_ATTRIBUTES_AND_INPUT_TYPE,
        TypeOfClass("result", RankedTensor),
    )
