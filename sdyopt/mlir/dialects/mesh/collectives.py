"""The collectives of the mesh dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.mesh.attributes import (
    AXES,
    NO_AXES,
    REDUCTION,
    SUM,
    Axes,
    Reduction,
    mesh,
)
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp, check_axes, find_mesh
from sdyopt.mlir.ir.op_fields import attr, operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import NOT_THE_SAME, SAME_ELEMENT_TYPE, SAME_SHAPE
from sdyopt.mlir.ir.traits import FLAT_SYMBOL_ATTR, I64_ARRAY, INDEX_ATTR, PURE, Trait, TypeConstraint
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor, Type

_WRONG_SIZE = ErrorKind(
    "Dimension size mismatch for result axis {axis}. Expected {word}, but got {got}.", at="result_type 0"
)

RANKED = TypeConstraint[RankedTensor](
    "ranked tensor of any type values", lambda type: isinstance(type, RankedTensor)
)
NON_0_RANKED = TypeConstraint[RankedTensor](
    "non-0-ranked.tensor of any type values",
    lambda type: isinstance(type, RankedTensor) and type.rank > 0,
)
AXIS = INDEX_ATTR
DEVICE = I64_ARRAY


def _fold_empty_mesh_axes(op: MeshCollective, rewriter: Rewriter) -> bool:
    """Replaces a collective along no axes, whose groups are single devices, with its operand.

    The collective remains if the types of its operand and its result differ.
    """
    value = op.operand_at(0)
    if op.mesh_axes or value.type is not op.results[0].type:
        return False
    rewriter.replace(op, [value])
    return True


EMPTY_MESH_AXES = Pattern(_fold_empty_mesh_axes, "mesh-collective-without-axes")


class MeshCollective(Op):
    """Base of the collectives: communication within each device group along `mesh_axes` of a mesh."""

    mesh = attr(FLAT_SYMBOL_ATTR)
    mesh_axes = attr(AXES, default=NO_AXES)

    result_name: ClassVar[str]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, self.result_name)]

    def verify_symbol_uses(self) -> None:
        mesh_op = find_mesh(self, self.mesh)
        check_axes(self, mesh_op, self.mesh_axes)
        self.verify_in_mesh(mesh_op)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        """Verifies the constraints that depend on the mesh shape."""

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the operand and of the result."""
        operand, result = self.signature.operand_types[0], self.signature.result_types[0]
        assert isinstance(operand, RankedTensor) and isinstance(result, RankedTensor)
        return operand.shape, result.shape


# --- Checks: a dynamic size of a result is always valid -------------------------------------


def gathered_size(size: int, count: int) -> int:
    """The size of `count` concatenated shards of size `size`; `DYNAMIC` if either is `DYNAMIC`."""
    return DYNAMIC if DYNAMIC in (size, count) else size * count


def shard_size(size: int, count: int) -> int:
    """The size of one of `count` shards; `DYNAMIC` if either is `DYNAMIC` or no equal shards exist."""
    if DYNAMIC in (size, count) or count == 0 or size % count:
        return DYNAMIC
    return size // count


def check_size(op: Op, axis: int, expected: int, got: int) -> None:
    """Raises unless a result dimension has the expected size or is dynamic."""
    if got not in (expected, DYNAMIC):
        word = "dynamic" if expected == DYNAMIC else expected
        raise op.error(_WRONG_SIZE(axis=axis, word=word, got=got))


def check_unchanged_sizes(op: MeshCollective, *changed: int) -> None:
    """Raises unless operand and result have the same sizes, except in the `changed` dimensions."""
    operand_shape, result_shape = op.shapes()
    for axis, (expected, got) in enumerate(zip(operand_shape, result_shape, strict=True)):
        if axis not in changed:
            check_size(op, axis, expected, got)


def check_axis(op: MeshCollective, word: str, axis: int) -> None:
    """Raises unless the result has this dimension; `word` names the axis in the message."""
    rank = len(op.shapes()[1])
    if not 0 <= axis < rank:
        raise op.error(f"{word} axis {axis} is out of bounds [0, {rank}).")


def check_gathered_shape(op: MeshCollective, mesh_op: MeshOp, gather_axis: int) -> None:
    """Raises unless the result has the operand's sizes, multiplied along `gather_axis` by the group size."""
    check_axis(op, "Gather", gather_axis)
    operand_shape, result_shape = op.shapes()
    count = mesh_op.group_size(op.mesh_axes)
    for axis, (size, got) in enumerate(zip(operand_shape, result_shape, strict=True)):
        check_size(op, axis, gathered_size(size, count) if axis == gather_axis else size, got)


def check_sliced_shape(op: MeshCollective, mesh_op: MeshOp, word: str, slice_axis: int) -> None:
    """Raises unless the result has the operand's sizes, divided along `slice_axis` by the group size."""
    check_axis(op, word, slice_axis)
    check_unchanged_sizes(op, slice_axis)
    operand_shape, result_shape = op.shapes()
    size, count = operand_shape[slice_axis], mesh_op.group_size(op.mesh_axes)
    expected = shard_size(size, count)
    if expected == DYNAMIC and DYNAMIC not in (size, count):
        raise indivisible_dimension_error(op, size, count, slice_axis)
    check_size(op, slice_axis, expected, result_shape[slice_axis])


def indivisible_dimension_error(op: Op, size: int, group_size: int, axis: int) -> Exception:
    return op.error(
        f"Operand dimension size {size} is not divisible by collective device group size {group_size} "
        f"for tensor axis {axis}."
    )


def check_device(op: MeshCollective, mesh_op: MeshOp, name: str, device: Sequence[int]) -> None:
    """Raises unless `device`, the attribute `name`, has an index per mesh axis, less than the axis size."""
    axes: Axes = op.mesh_axes
    if len(device) != len(axes):
        raise op.error(
            f'In-group device "{name}" has unexpected multi-index size {len(device)}. Expected {len(axes)}.'
        )
    for position, (coordinate, axis) in enumerate(zip(device, axes, strict=True)):
        size = mesh_op.shape[axis]
        if DYNAMIC not in (coordinate, size) and coordinate >= size:
            raise op.error(
                f'Out of bounds coordinate {position} for in-group device "{name}". Got {coordinate}, but '
                f"expected value in the range [0, {size - 1}]."
            )


# --- Traits -------------------------------------------------------------------------------


def _rank(type: Type) -> int | None:
    return type.rank if isinstance(type, RankedTensor) else None


def _shape(type: Type) -> tuple[int, ...] | None:
    return type.shape if isinstance(type, RankedTensor) else None


def _check_same_rank(signature: OpSignature) -> None:
    if _rank(signature.operand_types[0]) != _rank(signature.result_types[0]):
        raise signature.op_error("result type has different rank than operands")


def _check_same_shape(signature: OpSignature) -> None:
    if _shape(signature.operand_types[0]) != _shape(signature.result_types[0]):
        raise signature.op_error(NOT_THE_SAME(names="input, result", what="shape"))


# For SAME_SHAPE_EXACTLY, a dynamic size equals only a dynamic size.
SAME_RANK = Trait("same-operands-and-result-rank", _check_same_rank)
SAME_SHAPE_EXACTLY = Trait("same-shape-of-input-and-result", _check_same_shape)


INPUT_ON_MESH = "$input `on` $mesh (`mesh_axes` `=` $mesh_axes^)?"
_ATTRIBUTES_AND_INPUT_TYPE = "attr-dict `:` custom<ShapedType>($input) `->`"
ATTRIBUTES_AND_RANKED_TYPES = (
    "attr-dict `:` custom<RankedTensorType>($input) `->` custom<RankedTensorType>($result)"
)


@mesh.op("all_gather", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllGatherOp(MeshCollective):
    """Concatenates the tensors of each device group along `gather_axis`, on every device.

    %1 = mesh.all_gather %0 on @grid mesh_axes = [1] gather_axis = 0
      : tensor<2x4xf32> -> tensor<6x4xf32>
    """

    input = operand(NON_0_RANKED)
    gather_axis = attr(AXIS)
    result = result(NON_0_RANKED)

    result_name = "all_gather"
    assembly = assembly(
        f"{INPUT_ON_MESH} `gather_axis` `=` $gather_axis {_ATTRIBUTES_AND_INPUT_TYPE} "
        "custom<ShapedType>($result)"
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_gathered_shape(self, mesh_op, self.gather_axis)


class AllReduceOp(MeshCollective):
    """Reduces the tensors of each device group elementwise, on every device.

        %1 = mesh.all_reduce %0 on @grid mesh_axes = [0] reduction = <max>
          : tensor<4xf32> -> tensor<4xf64>

    Elements are converted to the element type of the result first. The default reduction is the sum.
    """

    input = operand(RANKED)
    reduction = attr(REDUCTION, default=SUM)
    result = result(RANKED)

    result_name = "all_reduce"
    canonicalizations = (EMPTY_MESH_AXES,)
    reduction_class: ClassVar[type[Reduction]] = Reduction


@mesh.op("all_reduce", PURE, SAME_SHAPE)
class AllReduce19Op(AllReduceOp):
    """`all_reduce` with the syntax of LLVM 19."""

    assembly = assembly(f"{INPUT_ON_MESH} (`reduction` `=` $reduction^)? {ATTRIBUTES_AND_RANKED_TYPES}")


@mesh.op("all_slice", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllSliceOp(MeshCollective):
    """Slices the tensor of each device along `slice_axis`: the inverse of all_gather.

    %1 = mesh.all_slice %0 on @grid mesh_axes = [1] slice_axis = 0
      : tensor<6x4xf32> -> tensor<2x4xf32>
    """

    input = operand(NON_0_RANKED)
    slice_axis = attr(AXIS)
    result = result(NON_0_RANKED)

    result_name = "all_slice"
    assembly = assembly(
        f"{INPUT_ON_MESH} `slice_axis` `=` $slice_axis {_ATTRIBUTES_AND_INPUT_TYPE} "
        "custom<ShapedType>($result)"
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_sliced_shape(self, mesh_op, "Slice", self.slice_axis)


@mesh.op("all_to_all", PURE, SAME_ELEMENT_TYPE, SAME_RANK)
class AllToAllOp(MeshCollective):
    """Splits each tensor along `split_axis`, exchanges the slices within the device group, and
    concatenates the received slices along `concat_axis`.

        %1 = mesh.all_to_all %0 on @grid mesh_axes = [0] split_axis = 0 concat_axis = 1
          : tensor<6x4xf32> -> tensor<3x8xf32>
    """

    input = operand(NON_0_RANKED)
    split_axis = attr(AXIS)
    concat_axis = attr(AXIS)
    result = result(NON_0_RANKED)

    result_name = "all_to_all"
    assembly = assembly(
        f"{INPUT_ON_MESH} `split_axis` `=` $split_axis `concat_axis` `=` $concat_axis "
        f"{_ATTRIBUTES_AND_INPUT_TYPE} custom<ShapedType>($result)"
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


class ReduceScatterOp(MeshCollective):
    """Reduces the tensors of each device group elementwise, and slices the result along `scatter_axis`.

    %1 = mesh.reduce_scatter %0 on @grid mesh_axes = [1] reduction = <max> scatter_axis = 0
      : tensor<6x4xf32> -> tensor<2x4xf32>
    """

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

    assembly = assembly(
        f"{INPUT_ON_MESH} (`reduction` `=` $reduction^)? `scatter_axis` `=` $scatter_axis "
        f"{_ATTRIBUTES_AND_INPUT_TYPE} custom<RankedTensorType>($result)"
    )
