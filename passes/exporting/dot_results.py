"""When the result of a matrix product should be computed in one sharding and then given another.

    %0 = stablehlo.dot %a, %b {… <@mesh, [{"x"}, {}]>}    rows of %a split along "y", sums along "x"
becomes
    %0 = stablehlo.dot %a, %b {… <@mesh, [{"y"}, {}]>}
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]>

The result wants its rows along "x", while %a has them along "y" and the sums lie along "x". Left to
itself, the partitioner would first undo how %a is split, multiply bigger matrices, and scatter the sums.
With the rows as %a has them, every device multiplies less, and what moves afterwards is the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.ir.operation import Op
from sdyopt.ir.types import RankedShape
from sdyopt.sharding.axes import Axes
from sdyopt.sharding.projection import TensorProjection


def split_result_as_operands(op: Op, rule: OpShardingRule, tensors: Sequence[TensorProjection]) -> bool:
    """Splits the result of a product as its operands are split, if that pays; whether it does.

    It pays if the operands agree with each other, and the result with them in all but one factor: one
    that the operand splits, that the result splits along just the axes of the sums, and in an operand
    that is not smaller than the result.
    """
    lhs, rhs, result = tensors
    seen: list[AxisRef] = []
    sums: Axes = ()
    conflict: tuple[int, Axes] | None = None
    for factor in range(len(rule.factor_sizes)):
        in_lhs, in_rhs = lhs.axes_of(factor), rhs.axes_of(factor)
        if in_lhs is not None and in_rhs is not None:
            if in_lhs != in_rhs:
                return False
            if factor in rule.reduction:
                sums += in_lhs
                continue
            wanted = in_lhs
        else:
            wanted = in_lhs or in_rhs or ()
            if any(axis.overlaps(other) for axis in wanted for other in seen):
                return False
            seen += wanted
        if result.axes_of(factor) == wanted:
            continue
        if not wanted or conflict is not None or _is_smaller_than_result(op, in_lhs, in_rhs):
            return False
        conflict = factor, wanted
    if conflict is None:
        return False
    factor, wanted = conflict
    held = result.axes_of(factor)
    if not held or held != sums:
        return False
    result.split(factor, wanted)
    return True


def _is_smaller_than_result(op: Op, in_lhs: Axes | None, in_rhs: Axes | None) -> bool:
    """Whether each operand that has a factor, as `in_…` say, has fewer elements than the result."""
    lhs, rhs = (
        _size(type) if axes is not None else 0
        for type, axes in zip(op.form.operand_types, (in_lhs, in_rhs), strict=True)
    )
    return max(lhs, rhs) < _size(op.result.type)


def _size(type: object) -> int:
    return type.num_elements if isinstance(type, RankedShape) and type.has_static_shape else 0
