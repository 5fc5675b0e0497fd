"""The verifier of manual computations: shardings, and the local shapes that they determine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text
from sdyopt.mlir.dialects.sdy.interfaces import AxisBinder
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh, mesh_of
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import check_shardings
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.interfaces import terminator_of
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, ShapedType, Type, tensor


def check_manual_computation(
    op: AxisBinder, in_shardings: ShardingPerValue, out_shardings: ShardingPerValue, body: Region
) -> None:
    """Checks the operands, results and manual axes of a `sdy.manual_computation`."""
    arguments = [argument.type for argument in body.blocks[0].arguments]
    _Values(op, "operand", in_shardings).check(op.signature.operand_types, arguments)
    returned = terminator_of(body).signature.operand_types
    _Values(op, "result", out_shardings).check(op.signature.result_types, returned)
    shardings = [*in_shardings, *out_shardings]
    if not shardings:
        return
    # The shardings have been checked, so every mesh exists.
    mesh = common_mesh(shardings, op)
    if mesh is None:
        if op.manual_axes:
            raise op.op_error("all in and out shardings must be bound to the same mesh or an empty mesh.")
        return
    for name in op.manual_axes:
        if not mesh.has_axis(name):
            raise op.op_error(f'unknown manual axis: "{name}"')


class _Values:
    """Checks the operands or the results of a manual computation."""

    def __init__(self, op: AxisBinder, word: str, shardings: ShardingPerValue) -> None:
        self._op = op
        self._manual = op.manual_axes
        self._word = word
        self._shardings = shardings

    def check(self, outside: Sequence[Type], inside: Sequence[Type]) -> None:
        """Checks the shardings, and that `inside` are the local types of `outside`."""
        op, word = self._op, self._word
        if not outside and not inside and not len(self._shardings):
            return
        check_shardings(op, self._shardings, outside, lambda message: op.op_error(f"{word} {message}"))
        if len(outside) != len(inside):
            raise op.op_error(
                f"number of op {word}s and region {word}s must match. Op has {len(outside)} op {word}s and "
                f"{len(inside)} region {word}s"
            )
        for index, values in enumerate(zip(outside, inside, self._shardings, strict=False)):
            self._check_value(index, *values)

    def _check_value(self, index: int, outside: Type, inside: Type, sharding: TensorSharding) -> None:
        op, word = self._op, self._word
        for number, dim in enumerate(sharding.dims):
            wrong_order = self._manual_after_free(dim.axes)
            if wrong_order is not None:
                free, manual = map(axis_ref_text, wrong_order)
                raise op.op_error(
                    f"{word} sharding at index {index} must have all manual axes come before free axes in "
                    f"its dimension sharding at index {number}. Saw manual axis {manual} after free axis "
                    f"{free}"
                )
        if not isinstance(outside, ShapedType):
            return  # such as a token
        assert isinstance(outside, RankedShapedType)
        expected = tensor(self._local_shape(outside, sharding), outside.element)
        if inside is not expected:
            raise op.op_error(
                f"{word} shape, corresponding sharding, and region {word} shape at index {index} must match. "
                f"Expected local shape '{plain_type(expected)}', actual local shape '{plain_type(inside)}'"
            )

    def _manual_after_free(self, axes: Sequence[AxisRef]) -> tuple[AxisRef, AxisRef] | None:
        """The first free axis that is directly before a manual axis, and that manual axis."""
        for axis, following in pairwise(axes):
            if axis.name not in self._manual and following.name in self._manual:
                return axis, following
        return None

    def _local_shape(self, type: RankedShapedType, sharding: TensorSharding) -> tuple[int, ...]:
        if not self._manual:
            # A maximal sharding has no dimensions.
            return type.shape[: sharding.rank]
        mesh = mesh_of(sharding, self._op)
        assert mesh is not None
        shape = []
        for size, dim in zip(type.shape, sharding.dims, strict=False):
            manual_size = prod(axis.size(mesh) for axis in dim.axes if axis.name in self._manual)
            if size == DYNAMIC:
                shape.append(size)
                continue
            if size % manual_size:
                raise self._op.op_error(
                    f"{self._word} dimension size {size} is not divisible by the manual axes size "
                    f"{manual_size}"
                )
            shape.append(size // manual_size)
        return tuple(shape)
