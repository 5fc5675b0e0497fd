"""The basic strategy: an axis goes where nothing speaks against it, in any operand or result.

For each factor by itself: the operands and results that have it agree on a list of axes, up to the
first on which they differ. The list is cut where an axis meets something in its way in one of the
tensors: another factor that uses the axis, or a factor that is closed. What is left goes to all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import gcd

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.ops import PropagationDirection
from sdyopt.sharding.axes import Axes, is_major_part, is_strict_beginning, major_part, prefix_without
from sdyopt.sharding.direction import BACKWARD, BOTH, NONE
from sdyopt.sharding.factors import FactorStep
from sdyopt.sharding.projection import FactorSharding, TensorProjection

# (axis, how many ways the axes before it split) -> as much of the axis as is possible
Limit = Callable[[AxisRef, int], AxisRef | None]


def propagate_basic(step: FactorStep) -> None:
    """Splits factors further where all tensors allow it."""
    for factor, size in enumerate(step.sizes):
        axes = agreed_axes(step, factor, step.directions[factor])

        def limit(axis: AxisRef, ways: int, factor: int = factor, size: int = size) -> AxisRef | None:
            return _possible_everywhere(axis, step.tensors, factor, size, ways, step.mesh)

        axes = cut(axes, limit, step.mesh, step.is_conservative)
        if not axes:
            continue
        for tensor in step.tensors:
            held = tensor.factors.get(factor)
            if held is not None and is_strict_beginning(held.axes, axes):
                tensor.split(factor, axes)


# --- What the tensors agree on --------------------------------------------------------------------


def agreed_axes(step: FactorStep, factor: int, direction: PropagationDirection) -> Axes:
    """The axes along which a factor is split in some tensor, up to where tensors disagree.

    In one direction only the tensors at the start add axes; those at the end can still disagree.
    """
    if direction is NONE:
        return ()
    first, second = step.operands, step.results
    if direction is BACKWARD:
        first, second = second, first
    axes, can_grow = _agree((), first, factor, True)
    return _agree(axes, second, factor, can_grow and direction is BOTH)[0]


def _agree(axes: Axes, tensors: Iterable[TensorProjection], factor: int, can_grow: bool) -> tuple[Axes, bool]:
    for tensor in tensors:
        held = tensor.factors.get(factor)
        if held is not None:
            axes, can_grow = _agree_on_two(axes, held.axes, can_grow)
    return axes, can_grow


def _agree_on_two(old: Axes, new: Axes, can_grow: bool) -> tuple[Axes, bool]:
    """What two lists agree on, and whether the result may still grow.

    Where one is the beginning of the other, that is the longer list, if the old one may grow.
    """
    if old is new:
        return old, can_grow
    found: list[AxisRef] = []
    for position, (mine, other) in enumerate(zip(old, new, strict=False)):
        if mine is other:
            found.append(mine)
        elif is_major_part(other, mine):
            if position + 1 < len(new):
                return (*found, other), False
            found.append(mine)
        elif is_major_part(mine, other):
            if not can_grow or position + 1 < len(old):
                return (*found, mine), False
            found.append(other)
        else:
            return tuple(found), False
    found += old[len(new) :]
    if can_grow:
        found += new[len(old) :]
    return tuple(found), can_grow


# --- What is in the way ---------------------------------------------------------------------------


def cut(axes: Axes, limit: Limit, mesh: Mesh, is_conservative: bool) -> Axes:
    """A list up to the first axis that is not possible as a whole, with as much of that as is possible.

    A conservative list has no parts of axes.
    """
    ways = 1
    for position, axis in enumerate(axes):
        possible = limit(axis, ways)
        if possible is None or (is_conservative and possible.sub_axis is not None):
            return axes[:position]
        if possible is not axis:
            return (*axes[:position], possible)
        ways *= axis.size(mesh)
    return axes


def _possible_everywhere(
    axis: AxisRef, tensors: Sequence[TensorProjection], factor: int, size: int, ways: int, mesh: Mesh
) -> AxisRef | None:
    for tensor in tensors:
        possible = unused_by_others(axis, tensor, factor)
        held = tensor.factors.get(factor)
        if possible is not None and held is not None:
            possible = possible_within(possible, tensor, held, size, ways, mesh)
        if possible is None:
            return None
        axis = possible
    return axis


def unused_by_others(axis: AxisRef, tensor: TensorProjection, factor: int) -> AxisRef | None:
    """The part of an axis along which no other factor of a tensor is split."""
    possible: AxisRef | None = axis
    for other, held in tensor.factors.items():
        if other != factor:
            possible = prefix_without(possible, held.overflow) if possible is not None else None
            possible = prefix_without(possible, held.axes) if possible is not None else None
    return possible


def possible_within(
    axis: AxisRef, tensor: TensorProjection, held: FactorSharding, size: int, ways: int, mesh: Mesh
) -> AxisRef | None:
    """The part of an axis along which a factor of a tensor is split or may be split.

    `ways` is how many ways the axes before it split the factor, which has some `size`.
    """
    possible = prefix_without(axis, tensor.replicated_axes)
    if possible is not None:
        possible = prefix_without(possible, tensor.unreduced_axes)
    if possible is None:
        return None
    if any(has.contains(possible) for has in held.axes):
        return possible
    if not held.is_closed and not held.overflow:
        if held.is_last:
            return possible
        fitting = _fitting(possible, size, ways, mesh)
        if fitting is not None:
            return fitting
    # It cannot be split further, but may stay as it is.
    if held.axes and is_major_part(held.axes[-1], possible):
        return held.axes[-1]
    return None


def _fitting(axis: AxisRef, size: int, ways: int, mesh: Mesh) -> AxisRef | None:
    """The part of an axis that divides what is left of a factor."""
    if size % ways:
        return None
    axis_size = axis.size(mesh)
    part = gcd(size // ways, axis_size)
    if part == axis_size:
        return axis
    return major_part(axis, part) if part != 1 else None
