"""Collectives in which all devices of a group are alike: all_gather, all_reduce, all_slice, …"""

from __future__ import annotations

from typing import ClassVar

from sdyopt.asm.format.assembly_format import AttrDict, FormatElement, Operand, assembly
from sdyopt.asm.format.typed_operands import TypeIn
from sdyopt.dialects.mesh.assembly_directives import (
    axes_clause,
    integer_clause,
    mesh_reference,
    reduction_clause,
)
from sdyopt.dialects.mesh.collective_base import (
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
    gather_dimension,
    shard_dimension,
)
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.mesh_op import MeshOp
from sdyopt.dialects.mesh.reduction import REDUCTION, SUM, Reduction
from sdyopt.ir.op_fields import attr, operand, result
from sdyopt.ir.shape_traits import SAME_ELEMENT_TYPE, SAME_SHAPE
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import RankedTensor, ShapedType

HEAD: tuple[FormatElement | str, ...] = (Operand("input"), "on", mesh_reference(), axes_clause("mesh_axes"))
_TAIL: tuple[FormatElement | str, ...] = (AttrDict(), ":", TypeIn("input", ShapedType), "->")
RANKED_TO_RANKED: tuple[FormatElement | str, ...] = (
    AttrDict(),
    ":",
    TypeIn("input", RankedTensor),
    "->",
    TypeIn("result", RankedTensor),
)


@mesh.op("all_gather", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllGatherOp(Collective):
    """Every device of a group gets the tensors of all, one behind the other along a dimension.

    %1 = mesh.all_gather %0 on @grid mesh_axes = [1] gather_axis = 0
      : tensor<2x4xf32> -> tensor<6x4xf32>
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    gather_axis = attr(AXIS)
    result = result(NON_0_RANKED)

    result_name = "all_gather"
    assembly = assembly(*HEAD, *integer_clause("gather_axis"), *_TAIL, TypeIn("result", ShapedType))
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_gathered_shape(self, mesh_op, self.gather_axis)


class AllReduceOp(Collective):
    """Every device of a group gets the tensors of all, combined element by element.

        %1 = mesh.all_reduce %0 on @grid mesh_axes = [0] reduction = <max>
          : tensor<4xf32> -> tensor<4xf64>

    What is combined has been converted to the element type of the result. Without `reduction` it is
    the sum.
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
    """As LLVM 19 writes it."""

    __slots__ = ()

    assembly = assembly(*HEAD, reduction_clause(), *RANKED_TO_RANKED)


@mesh.op("all_slice", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllSliceOp(Collective):
    """Every device of a group keeps its part of its own tensor: the inverse of all_gather.

    %1 = mesh.all_slice %0 on @grid mesh_axes = [1] slice_axis = 0
      : tensor<6x4xf32> -> tensor<2x4xf32>
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    slice_axis = attr(AXIS)
    result = result(NON_0_RANKED)

    result_name = "all_slice"
    assembly = assembly(*HEAD, *integer_clause("slice_axis"), *_TAIL, TypeIn("result", ShapedType))
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_sliced_shape(self, mesh_op, "Slice", self.slice_axis)


@mesh.op("all_to_all", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllToAllOp(Collective):
    """Every device cuts its tensor along one dimension, sends each device of its group a part, and
    joins what it gets along another dimension.

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
        *HEAD,
        *integer_clause("split_axis"),
        *integer_clause("concat_axis"),
        *_TAIL,
        TypeIn("result", ShapedType),
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
        before, after = self.shapes()
        size = mesh_op.group_size(self.mesh_axes)
        check_size(self, concat, gather_dimension(before[concat], size), after[concat])
        check_size(self, split, shard_dimension(before[split], size), after[split])


class ReduceScatterOp(Collective):
    """The tensors of a group are combined, and every device gets its part of the outcome.

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
    """As LLVM 19 writes it."""

    __slots__ = ()

    assembly = assembly(
        *HEAD, reduction_clause(), *integer_clause("scatter_axis"), *_TAIL, TypeIn("result", RankedTensor)
    )
