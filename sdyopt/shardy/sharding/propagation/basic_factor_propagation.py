"""The basic strategy, which propagates axes without conflicts, and the aggressive one, which resolves them.

Each factor is propagated independently. Its compatible major axes are the longest list that is compatible
with its axes in all operands and results. The list is truncated at the first axis that conflicts in one of
the tensors: another factor uses it, the tensor is replicated or unreduced along it, the factor is closed, or,
unless the factor is minor-most, the axis does not divide it. The truncated list is propagated to all tensors
that have the factor.

First the compatible major axes of each factor are found, regardless of conflicts. Then each tensor takes as
many of them as it can, factor by factor in this order of preference:

1. the factor whose axes come from the larger tensor,
2. in elementwise operations, the factor with the larger sharded size,
3. the factor whose axes come from the earlier operand or result,
4. the factor with the lower index.

Results take axes before operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import gcd, prod

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import PropagationDirection
from sdyopt.shardy.sharding.axis_lists import (
    Axes,
    axes_after,
    is_axis_prefix,
    is_prefix,
    is_strict_prefix,
    major_sub_axis,
    prefix_without,
    sharded_size,
)
from sdyopt.shardy.sharding.propagation.step_input import (
    BACKWARD,
    BOTH,
    FORWARD,
    NONE,
    Preference,
    Reason,
    Refusal,
    ReportConflict,
    StepInput,
    StepTrace,
    ignore,
)
from sdyopt.shardy.sharding.sharding_projection import FactorSharding, TensorProjection

# (axis, sharded size of the axes before it) -> the largest prefix of the axis without a conflict
Limit = Callable[[AxisRef, int], AxisRef | None]


def propagate_basic(step: StepInput) -> None:
    """Extends the axes of each factor in all tensors, as far as no tensor has a conflict."""
    for factor, size in enumerate(step.sizes):
        axes = compatible_major_axes(step, factor, step.directions[factor])

        def limit(axis: AxisRef, sharded_size: int, factor: int = factor, size: int = size) -> AxisRef | None:
            report = step.report
            for tensor in step.tensors:
                prefix = prefix_unused_by_other_factors(axis, tensor, factor, report)
                current = tensor.factors.get(factor)
                if prefix is not None and current is not None:
                    prefix = prefix_allowed_in_factor(
                        prefix, tensor, current, size, sharded_size, step.mesh, report
                    )
                if prefix is None:
                    return None
                axis = prefix
            return axis

        axes = truncate(step, factor, axes, limit)
        if not axes:
            continue
        for tensor in step.tensors:
            current = tensor.factors.get(factor)
            if current is not None and is_strict_prefix(current.axes, axes):
                tensor.set_axes(factor, axes)


# --- Compatible axes ------------------------------------------------------------------------------


def compatible_major_axes(step: StepInput, factor: int, direction: PropagationDirection) -> Axes:
    """The longest list of axes that is compatible with the axes of a factor in all tensors.

    With direction FORWARD, only the operands add axes to the list; with BACKWARD, only the results. Axes of
    the other tensors that are not compatible with the list truncate it.
    """
    if direction is NONE:
        if step.trace is not None:
            _refuse_incompatible(step, step.trace, factor, direction, ())
        return ()
    sources, targets = step.operands, step.results
    if direction is BACKWARD:
        sources, targets = targets, sources
    axes, can_grow = _compatible_axes_of((), sources, factor, True)
    axes = _compatible_axes_of(axes, targets, factor, can_grow and direction is BOTH)[0]
    if step.trace is not None:
        _refuse_incompatible(step, step.trace, factor, direction, axes)
    return axes


def _compatible_axes_of(
    axes: Axes, tensors: Iterable[TensorProjection], factor: int, can_grow: bool
) -> tuple[Axes, bool]:
    for tensor in tensors:
        current = tensor.factors.get(factor)
        if current is not None:
            axes, can_grow = _compatible_axes_of_two(axes, current.axes, can_grow)
    return axes, can_grow


def _compatible_axes_of_two(old: Axes, new: Axes, can_grow: bool) -> tuple[Axes, bool]:
    """The compatible axes of two lists, and whether a further list may add axes to them.

    If one list is a prefix of the other, the result is the longer list, or `old` if it cannot grow. Otherwise
    the result is the common prefix, which cannot grow any more.
    """
    if old is new or not new:
        return old, can_grow
    if not old:
        return (new if can_grow else old), can_grow
    axes: list[AxisRef] = []
    for position, (old_axis, new_axis) in enumerate(zip(old, new, strict=False)):
        if old_axis is new_axis:
            axes.append(old_axis)
        elif is_axis_prefix(new_axis, old_axis):
            if position + 1 < len(new):
                return (*axes, new_axis), False
            axes.append(old_axis)
        elif is_axis_prefix(old_axis, new_axis):
            if not can_grow or position + 1 < len(old):
                return (*axes, old_axis), False
            axes.append(new_axis)
        else:
            return tuple(axes), False
    axes += old[len(new) :]
    if can_grow:
        axes += new[len(old) :]
    return tuple(axes), can_grow


def _refuse_incompatible(
    step: StepInput, trace: StepTrace, factor: int, direction: PropagationDirection, axes: Axes
) -> None:
    """Refuses the axes of each tensor that are not among the compatible axes of a factor."""
    lists = {
        index: tensor.factors[factor].axes
        for index, tensor in enumerate(step.tensors)
        if factor in tensor.factors
    }
    for index, current in lists.items():
        rest = axes_after(axes, current)
        if not rest:
            continue
        is_source = direction is BOTH or direction is (FORWARD if index < len(step.operands) else BACKWARD)
        incompatible = [other for other in lists if not _is_either_prefix(current, lists[other])]
        if direction is NONE:
            trace.refuse(Reason.BLOCKED, factor, rest)
        elif incompatible:
            for other in incompatible:
                conflicting = axes_after(axes, lists[other])
                trace.refuse(Reason.OTHER_AXES, factor, rest, None, step.tensors[other], conflicting)
        elif not is_source:
            trace.refuse(Reason.DIRECTION, factor, rest)
        else:
            # Two other tensors have axes that are not compatible with each other.
            trace.refuse(Reason.OTHER_AXES, factor, rest)


def refuse_for_further_reasons(
    refusal: Refusal, sizes: Sequence[int], tensors: Sequence[TensorProjection], mesh: Mesh, trace: StepTrace
) -> None:
    """Adds the further reasons that stop the axes of a refusal; a strategy finds only the first reason."""
    factor, axes = refusal.factor, refusal.axes
    targets = tensors if refusal.target is None else [tensors[refusal.target]]
    for tensor in targets:
        current = tensor.factors.get(factor)
        if current is None or not axes_after(current.axes, axes):
            continue
        prefix_unused_by_other_factors(axes[0], tensor, factor, trace.conflict)
        major_size = sharded_size([axis for axis in current.axes if not axis.overlaps(axes[0])], mesh)
        # The tensor as it is, then without its explicitly replicated and unreduced axes.
        for projection in (tensor, TensorProjection(tensor.factors)):
            report = partial(trace.conflict_in, tensor)
            prefix_allowed_in_factor(axes[0], projection, current, sizes[factor], major_size, mesh, report)
        trace.truncated(factor, axes, tensor)


def _is_either_prefix(first: Axes, second: Axes) -> bool:
    return is_prefix(first, second) or is_prefix(second, first)


# --- Conflicts ------------------------------------------------------------------------------------


def truncate(
    step: StepInput, factor: int, axes: Axes, limit: Limit, target: TensorProjection | None = None
) -> Axes:
    """The axes before the first axis with a conflict, and the largest prefix of this axis without a conflict.

    With `is_conservative`, the list also ends before the first sub-axis. The rest is refused to `target`.
    """
    kept = _truncate(axes, limit, step)
    if step.trace is not None and kept is not axes:
        step.trace.truncated(factor, axes_after(kept, axes), target)
    return kept


def _truncate(axes: Axes, limit: Limit, step: StepInput) -> Axes:
    sharded_size = 1
    for position, axis in enumerate(axes):
        prefix = limit(axis, sharded_size)
        if prefix is None:
            return axes[:position]
        if step.is_conservative and prefix.sub_axis is not None:
            step.report(Reason.CONSERVATIVE, prefix, step.tensors[0])
            return axes[:position]
        if prefix is not axis:
            return (*axes[:position], prefix)
        sharded_size *= axis.size(step.mesh)
    return axes


def prefix_unused_by_other_factors(
    axis: AxisRef, tensor: TensorProjection, factor: int, report: ReportConflict = ignore
) -> AxisRef | None:
    """The largest prefix of an axis that shards no other factor of the tensor; None if there is none."""
    prefix: AxisRef | None = axis
    for other, current in tensor.factors.items():
        if other != factor:
            before = prefix
            prefix = prefix_without(prefix, current.overflow_axes) if prefix is not None else None
            prefix = prefix_without(prefix, current.axes) if prefix is not None else None
            if before is not None and prefix is not before:
                report(Reason.OTHER_FACTOR, before, tensor, current.axes + current.overflow_axes, other)
    return prefix


def prefix_allowed_in_factor(
    axis: AxisRef,
    tensor: TensorProjection,
    current: FactorSharding,
    size: int,
    sharded_size: int,
    mesh: Mesh,
    report: ReportConflict = ignore,
) -> AxisRef | None:
    """The largest prefix of an axis along which a factor of a tensor is sharded or may be sharded.

    `size` is the size of the factor, `sharded_size` that of the axes before this one. None if there is no
    such prefix.
    """
    prefix = prefix_without(axis, tensor.replicated_axes)
    if prefix is not axis:
        report(Reason.REPLICATED, axis, tensor, tensor.replicated_axes)
    if prefix is not None:
        before = prefix
        prefix = prefix_without(prefix, tensor.unreduced_axes)
        if prefix is not before:
            report(Reason.UNREDUCED, before, tensor, tensor.unreduced_axes)
    if prefix is None:
        return None
    if any(other.contains(prefix) for other in current.axes):
        return prefix
    if not current.is_closed and not current.overflow_axes:
        if current.is_minor_most:
            return prefix
        dividing = _dividing_prefix(prefix, size, sharded_size, mesh)
        if dividing is not prefix:
            report(Reason.NOT_DIVISIBLE, prefix, tensor)
        if dividing is not None:
            return dividing
    else:
        reason = Reason.CLOSED if current.is_closed else Reason.OVERFLOW
        report(reason, prefix, tensor, current.overflow_axes)
    # The factor cannot be sharded further, but keeps its last axis.
    if current.axes and is_axis_prefix(current.axes[-1], prefix):
        return current.axes[-1]
    return None


def _dividing_prefix(axis: AxisRef, size: int, sharded_size: int, mesh: Mesh) -> AxisRef | None:
    """The largest prefix of an axis whose size divides `size / sharded_size`; None if there is none."""
    if size % sharded_size:
        return None
    axis_size = axis.size(mesh)
    divisor = gcd(size // sharded_size, axis_size)
    if divisor == axis_size:
        return axis
    return major_sub_axis(axis, divisor) if divisor != 1 else None


def propagate_aggressive(step: StepInput) -> None:
    """Extends the axes of each factor in every tensor, as far as this tensor has no conflict."""
    tensors = step.tensors
    axes = [
        _propagating_axes(step, tensors, factor, direction)
        for factor, direction in enumerate(step.directions)
    ]
    if not any(axes):
        return
    preferences = _preferences(step, axes)
    order = [preference.factor for preference in sorted(preferences) if axes[preference.factor]]
    if step.trace is not None:
        step.trace.preference = preferences
    for tensor in step.results:
        for factor in order:
            _extend(tensor, factor, _allowed_prefix(step, tensor, factor, axes[factor]))
    for tensor in step.operands:
        for factor in order:
            prefix = _allowed_prefix(step, tensor, factor, axes[factor])
            if prefix and step.is_elementwise:
                prefix = _prefix_in_results(step, tensor, factor, prefix)
            _extend(tensor, factor, prefix)


def _propagating_axes(
    step: StepInput, tensors: Sequence[TensorProjection], factor: int, direction: PropagationDirection
) -> Axes:
    """The compatible major axes of a factor; without a trace, none if all tensors of the factor have them."""
    axes = compatible_major_axes(step, factor, direction)
    if step.trace is None and axes:
        for tensor in tensors:
            current = tensor.factors.get(factor)
            if current is not None and current.axes != axes:
                return axes
        return ()
    return axes


def _extend(tensor: TensorProjection, factor: int, axes: Axes) -> None:
    if axes and is_strict_prefix(tensor.factors[factor].axes, axes):
        tensor.set_axes(factor, axes)


def _allowed_prefix(step: StepInput, tensor: TensorProjection, factor: int, axes: Axes) -> Axes:
    """The prefix of axes that does not conflict with the current factor shardings of a tensor.

    If it does not extend the current axes of the factor, it may be shorter or empty.
    """
    current = tensor.factors.get(factor)
    if current is None:
        return ()
    if step.trace is None and not is_strict_prefix(current.axes, axes):
        # Nor is it one of a prefix of these axes.
        return ()
    size, mesh, report = step.sizes[factor], step.mesh, step.report

    def allowed_in_factor(axis: AxisRef, sharded_size: int) -> AxisRef | None:
        return prefix_allowed_in_factor(axis, tensor, current, size, sharded_size, mesh, report)

    def unused_by_other_factors(axis: AxisRef, sharded_size: int) -> AxisRef | None:
        return prefix_unused_by_other_factors(axis, tensor, factor, report)

    axes = truncate(step, factor, axes, allowed_in_factor, tensor)
    if not is_strict_prefix(current.axes, axes):
        return ()
    return truncate(step, factor, axes, unused_by_other_factors, tensor)


def _prefix_in_results(step: StepInput, tensor: TensorProjection, factor: int, axes: Axes) -> Axes:
    """The prefix of axes that every result has.

    In elementwise operations, axes propagate between operands only if the results have them.
    """
    for result in step.results:
        current = result.factors.get(factor)
        if current is not None and is_strict_prefix(current.axes, axes):
            if step.trace is not None:
                rest = axes_after(current.axes, axes)
                step.trace.refuse(Reason.RESULTS, factor, rest, tensor, result)
            axes = current.axes
    return axes


def _preferences(step: StepInput, axes: list[Axes]) -> list[Preference]:
    """The preference of each factor; factors take axes in ascending order of preference."""
    preferences = []
    for factor, (size, tensor) in enumerate(_source_tensors(step, axes)):
        factor_sharded_size = sharded_size(axes[factor], step.mesh) if step.is_elementwise else 0
        preferences.append(Preference(-size, -factor_sharded_size, tensor, factor))
    return preferences


def _source_tensors(step: StepInput, axes: list[Axes]) -> list[tuple[int, int]]:
    """For each factor, the size and index of the largest tensor that has all its axes; else -1, -1."""
    sources = [(-1, -1)] * len(axes)
    for index, tensor in enumerate(step.tensors):
        size = prod(step.sizes[factor] for factor in tensor.factors)
        for factor, current in tensor.factors.items():
            if axes[factor] and size > sources[factor][0] and is_prefix(axes[factor], current.axes):
                sources[factor] = (size, index)
    return sources
