"""What the collectives have in common: a mesh, the axes that make up the groups, checks of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sdyopt.dialects.mesh.axes import AXES, NO_AXES, Axes
from sdyopt.dialects.mesh.mesh_op import MeshOp, check_axes, find_mesh
from sdyopt.ir.constraints import FLAT_SYMBOL_ATTR, I64_ARRAY, AttrKind, TypeConstraint
from sdyopt.ir.numeric_attributes import IntegerAttr
from sdyopt.ir.op_fields import attr
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import Pattern
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import Trait
from sdyopt.ir.types import DYNAMIC, INDEX, RankedTensor, Type

RANKED = TypeConstraint[RankedTensor](
    "ranked tensor of any type values", lambda type: isinstance(type, RankedTensor)
)
NON_0_RANKED = TypeConstraint[RankedTensor](
    "non-0-ranked.tensor of any type values",
    lambda type: isinstance(type, RankedTensor) and type.rank > 0,
)
AXIS: AttrKind[int] = AttrKind(
    "index attribute", lambda a: isinstance(a, IntegerAttr) and a.type is INDEX, lambda a: a.value
)
DEVICE = I64_ARRAY


def _fold_empty_mesh_axes(op: Collective, rewriter: Rewriter) -> bool:
    """A group of one device has nothing to exchange."""
    value = op.operand_at(0)
    if op.mesh_axes or value.type is not op.results[0].type:
        return False
    rewriter.replace(op, [value])
    return True


EMPTY_MESH_AXES = Pattern(_fold_empty_mesh_axes, "mesh-collective-without-axes")


class Collective(Op):
    """Base of the operations in which the devices of a group take part together."""

    __slots__ = ()

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
        """Checks what depends on the sizes of the mesh."""

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the operand and of the result."""
        before, after = self.signature.operand_types[0], self.signature.result_types[0]
        assert isinstance(before, RankedTensor) and isinstance(after, RankedTensor)
        return before.shape, after.shape


# --- Checks -------------------------------------------------------------------------------


def gather_dimension(size: int, factor: int) -> int:
    return DYNAMIC if DYNAMIC in (size, factor) else size * factor


def shard_dimension(size: int, divisor: int) -> int:
    """`size / divisor`; dynamic where it is not known or there is no such size."""
    if DYNAMIC in (size, divisor) or divisor == 0 or size % divisor:
        return DYNAMIC
    return size // divisor


def check_size(op: Op, axis: int, expected: int, got: int) -> None:
    """Fails unless a result dimension is as it should be, or dynamic."""
    if got not in (expected, DYNAMIC):
        word = "dynamic" if expected == DYNAMIC else expected
        raise op.error(f"Dimension size mismatch for result axis {axis}. Expected {word}, but got {got}.")


def check_unchanged_sizes(op: Collective, *but: int) -> None:
    """Fails unless all dimensions but these are as large as in the operand."""
    before, after = op.shapes()
    for axis, (expected, got) in enumerate(zip(before, after, strict=True)):
        if axis not in but:
            check_size(op, axis, expected, got)


def check_axis(op: Collective, word: str, axis: int) -> None:
    """Fails unless the result has this dimension."""
    rank = len(op.shapes()[1])
    if not 0 <= axis < rank:
        raise op.error(f"{word} axis {axis} is out of bounds [0, {rank}).")


def check_gathered_shape(op: Collective, mesh_op: MeshOp, gather_axis: int) -> None:
    """One dimension is as large as that of all devices of the group together."""
    check_axis(op, "Gather", gather_axis)
    before, after = op.shapes()
    size = mesh_op.group_size(op.mesh_axes)
    for axis, (old, got) in enumerate(zip(before, after, strict=True)):
        check_size(op, axis, gather_dimension(old, size) if axis == gather_axis else old, got)


def check_sliced_shape(op: Collective, mesh_op: MeshOp, word: str, slice_axis: int) -> None:
    """One dimension is shard_dimension among the devices of the group."""
    check_axis(op, word, slice_axis)
    check_unchanged_sizes(op, slice_axis)
    before, after = op.shapes()
    size, whole = mesh_op.group_size(op.mesh_axes), before[slice_axis]
    expected = shard_dimension(whole, size)
    if expected == DYNAMIC and DYNAMIC not in (whole, size):
        raise indivisible_dimension_error(op, whole, size, slice_axis)
    check_size(op, slice_axis, expected, after[slice_axis])


def indivisible_dimension_error(op: Op, size: int, group_size: int, axis: int) -> Exception:
    return op.error(
        f"Operand dimension size {size} is not divisible by collective device group size {group_size} "
        f"for tensor axis {axis}."
    )


def check_device(op: Collective, mesh_op: MeshOp, name: str, device: Sequence[int]) -> None:
    """Fails unless these are coordinates of a device in its group."""
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
        raise signature.op_error("failed to verify that all of {input, result} have same shape")


# The operand and the result have one rank, or one shape to the last dynamic dimension.
SAME_RANK = Trait("same-operands-and-result-rank", _check_same_rank)
SAME_SHAPE_EXACTLY = Trait("same-shape-of-input-and-result", _check_same_shape)
