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
from sdyopt.sharding.axis_lists import (
    Axes,
    is_axis_prefix,
    is_strict_prefix,
    major_sub_axis,
    prefix_without,
)
from sdyopt.sharding.propagation.factor_propagation import FactorPropagation
from sdyopt.sharding.propagation.propagation_direction import BACKWARD, BOTH, NONE
from sdyopt.sharding.sharding_projection import FactorSharding, TensorProjection

# (axis, how many ways the axes before it split) -> as much of the axis as is possible
Limit = Callable[[AxisRef, int], AxisRef | None]


def propagate_basic(step: FactorPropagation) -> None:
    """Splits factors further where all tensors allow it."""
    for factor, size in enumerate(step.sizes):
        axes = compatible_major_axes(step, factor, step.directions[factor])

        def limit(axis: AxisRef, sharded_size: int, factor: int = factor, size: int = size) -> AxisRef | None:
            return _prefix_allowed_everywhere(axis, step.tensors, factor, size, sharded_size, step.mesh)

        axes = truncate(axes, limit, step.mesh, step.is_conservative)
        if not axes:
            continue
        for tensor in step.tensors:
            current = tensor.factors.get(factor)
            if current is not None and is_strict_prefix(current.axes, axes):
                tensor.set_axes(factor, axes)


# --- What the tensors agree on --------------------------------------------------------------------


def compatible_major_axes(step: FactorPropagation, factor: int, direction: PropagationDirection) -> Axes:
    """The axes along which a factor is split in some tensor, up to where tensors disagree.

    In one direction only the tensors at the start add axes; those at the end can still disagree.
    """
    if direction is NONE:
        return ()
    first, second = step.operands, step.results
    if direction is BACKWARD:
        first, second = second, first
    axes, can_grow = _compatible_axes_of((), first, factor, True)
    return _compatible_axes_of(axes, second, factor, can_grow and direction is BOTH)[0]


def _compatible_axes_of(
    axes: Axes, tensors: Iterable[TensorProjection], factor: int, can_grow: bool
) -> tuple[Axes, bool]:
    for tensor in tensors:
        current = tensor.factors.get(factor)
        if current is not None:
            axes, can_grow = _compatible_axes_of_two(axes, current.axes, can_grow)
    return axes, can_grow


def _compatible_axes_of_two(old: Axes, new: Axes, can_grow: bool) -> tuple[Axes, bool]:
    """What two lists agree on, and whether the result may still grow.

    Where one is the beginning of the other, that is the longer list, if the old one may grow.
    """
    if old is new:
        return old, can_grow
    found: list[AxisRef] = []
    for position, (mine, other) in enumerate(zip(old, new, strict=False)):
        if mine is other:
            found.append(mine)
        elif is_axis_prefix(other, mine):
            if position + 1 < len(new):
                return (*found, other), False
            found.append(mine)
        elif is_axis_prefix(mine, other):
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


def truncate(axes: Axes, limit: Limit, mesh: Mesh, is_conservative: bool) -> Axes:
    """A list up to the first axis that is not possible as a whole, with as much of that as is possible.

    A conservative list has no parts of axes.
    """
    sharded_size = 1
    for position, axis in enumerate(axes):
        prefix = limit(axis, sharded_size)
        if prefix is None or (is_conservative and prefix.sub_axis is not None):
            return axes[:position]
        if prefix is not axis:
            return (*axes[:position], prefix)
        sharded_size *= axis.size(mesh)
    return axes


def _prefix_allowed_everywhere(
    axis: AxisRef, tensors: Sequence[TensorProjection], factor: int, size: int, sharded_size: int, mesh: Mesh
) -> AxisRef | None:
    for tensor in tensors:
        prefix = prefix_unused_by_other_factors(axis, tensor, factor)
        current = tensor.factors.get(factor)
        if prefix is not None and current is not None:
            prefix = prefix_allowed_in_factor(prefix, tensor, current, size, sharded_size, mesh)
        if prefix is None:
            return None
        axis = prefix
    return axis


def prefix_unused_by_other_factors(axis: AxisRef, tensor: TensorProjection, factor: int) -> AxisRef | None:
    """The part of an axis along which no other factor of a tensor is split."""
    prefix: AxisRef | None = axis
    for other, current in tensor.factors.items():
        if other != factor:
            prefix = prefix_without(prefix, current.overflow_axes) if prefix is not None else None
            prefix = prefix_without(prefix, current.axes) if prefix is not None else None
    return prefix


def prefix_allowed_in_factor(
    axis: AxisRef, tensor: TensorProjection, current: FactorSharding, size: int, sharded_size: int, mesh: Mesh
) -> AxisRef | None:
    """The part of an axis along which a factor of a tensor is split or may be split.

    `ways` is how many ways the axes before it split the factor, which has some `size`.
    """
    prefix = prefix_without(axis, tensor.replicated_axes)
    if prefix is not None:
        prefix = prefix_without(prefix, tensor.unreduced_axes)
    if prefix is None:
        return None
    if any(has.contains(prefix) for has in current.axes):
        return prefix
    if not current.is_closed and not current.overflow_axes:
        if current.is_minor_most:
            return prefix
        fitting = _dividing_sub_axis(prefix, size, sharded_size, mesh)
        if fitting is not None:
            return fitting
    # It cannot be split further, but may stay as it is.
    if current.axes and is_axis_prefix(current.axes[-1], prefix):
        return current.axes[-1]
    return None


def _dividing_sub_axis(axis: AxisRef, size: int, sharded_size: int, mesh: Mesh) -> AxisRef | None:
    """The part of an axis that divides what is left of a factor."""
    if size % sharded_size:
        return None
    axis_size = axis.size(mesh)
    part = gcd(size // sharded_size, axis_size)
    if part == axis_size:
        return axis
    return major_sub_axis(axis, part) if part != 1 else None
