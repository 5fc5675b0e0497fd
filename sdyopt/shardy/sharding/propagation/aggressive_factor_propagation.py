"""The aggressive strategy: propagates every factor, and resolves conflicts tensor by tensor.

First the compatible major axes of each factor are found, regardless of conflicts. Then each tensor takes as
many of them as it can, factor by factor in this order of preference:

1. the factor whose axes come from the larger tensor,
2. in elementwise operations, the factor with the larger sharded size,
3. the factor whose axes come from the earlier operand or result,
4. the factor with the lower index.

Results take axes before operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.ops import PropagationDirection
from sdyopt.shardy.sharding.axis_lists import Axes, axes_after, is_prefix, is_strict_prefix, sharded_size
from sdyopt.shardy.sharding.propagation.basic_factor_propagation import (
    compatible_major_axes,
    prefix_allowed_in_factor,
    prefix_unused_by_other_factors,
    truncate,
)
from sdyopt.shardy.sharding.propagation.step_input import Preference, Reason, StepInput
from sdyopt.shardy.sharding.sharding_projection import TensorProjection


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
