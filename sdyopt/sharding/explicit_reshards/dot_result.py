"""Matrix products whose result is worth changing: one that costs less when its result is split otherwise.

    "x" splits the contracting dimension of both operands, "y" a free dimension of the right one, and the
    result is split along "x" where the right operand is split along "y".

Such a result would be a reduce-scatter over "x" of a result that is not split along "y". To split it along
"y" as the operand is, sum it over "x", and move "x" in place of "y" afterwards, computes less, and moves the
result only.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.sharding.axis_lists import Axes, overlap
from sdyopt.sharding.sharding_projection import TensorProjection


def better_dot_result_axes(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int]
) -> tuple[int, Axes] | None:
    """The factor that the result should split otherwise, and its axes; None to leave it.

    The operands must agree, and the result disagree with them on one factor only, which the operand does
    split, and the result along all axes of the reduction. The result must not be larger than the operand.
    """
    left, right, result = tensors
    reduction: Axes = ()
    free: Axes = ()
    conflict: tuple[int, Axes] | None = None
    for factor in range(len(rule.factor_sizes)):
        on_left, on_right = left.factors.get(factor), right.factors.get(factor)
        if on_left is not None and on_right is not None:
            axes, size = on_left.axes, max(sizes[0], sizes[1])
            if axes != on_right.axes:
                return None
            if factor in rule.reduction:
                reduction += axes
                continue
        else:
            split, size = (on_left, sizes[0]) if on_left is not None else (on_right, sizes[1])
            if split is None:
                return None
            axes = split.axes
            if overlap(axes, free):
                return None
            free += axes
        on_result = result.factors.get(factor)
        if on_result is None:
            return None
        if on_result.axes == axes:
            continue
        if not axes or conflict is not None or sizes[2] > size:
            return None
        conflict = factor, axes
    if conflict is None:
        return None
    held = result.factors[conflict[0]].axes
    return conflict if held and held == reduction else None
