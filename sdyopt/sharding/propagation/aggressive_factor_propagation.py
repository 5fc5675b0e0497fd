"""The aggressive strategy: where axes are in each other's way, one wins, in each tensor for itself.

First the tensors agree on axes for each factor, whatever is in the way. Then each tensor takes what it
can, factor by factor. The factors that come first win: those whose axes come from the largest tensor;
in elementwise operations, of these the ones that are split the most ways; then those whose axes come
from an earlier tensor. Results take before operands.
"""

from __future__ import annotations

from math import prod

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.axis_lists import Axes, is_prefix, is_strict_prefix
from sdyopt.sharding.propagation.basic_factor_propagation import (
    compatible_major_axes,
    prefix_allowed_in_factor,
    prefix_unused_by_other_factors,
    truncate,
)
from sdyopt.sharding.propagation.factor_propagation import FactorPropagation
from sdyopt.sharding.sharding_projection import TensorProjection


def propagate_aggressive(step: FactorPropagation) -> None:
    """Splits factors further where their tensor allows it."""
    axes = [
        compatible_major_axes(step, factor, direction) for factor, direction in enumerate(step.directions)
    ]
    if not any(axes):
        return
    order = _by_preference(step, axes)
    for tensor in step.results:
        for factor in order:
            _take(tensor, factor, _possible(step, tensor, factor, axes[factor]))
    for tensor in step.operands:
        for factor in order:
            prefix = _possible(step, tensor, factor, axes[factor])
            if prefix and step.is_elementwise:
                prefix = _shared_with_results(step, factor, prefix)
            _take(tensor, factor, prefix)


def _take(tensor: TensorProjection, factor: int, axes: Axes) -> None:
    if axes and is_strict_prefix(tensor.factors[factor].axes, axes):
        tensor.set_axes(factor, axes)


def _possible(step: FactorPropagation, tensor: TensorProjection, factor: int, axes: Axes) -> Axes:
    """The axes that a factor of a tensor can take, as things are now; none if it has as many already."""
    current = tensor.factors.get(factor)
    if current is None or not axes:
        return ()
    size, mesh = step.sizes[factor], step.mesh

    def within(axis: AxisRef, sharded_size: int) -> AxisRef | None:
        return prefix_allowed_in_factor(axis, tensor, current, size, sharded_size, mesh)

    axes = truncate(axes, within, mesh, step.is_conservative)
    if not is_strict_prefix(current.axes, axes):
        return ()
    return truncate(
        axes, lambda axis, _: prefix_unused_by_other_factors(axis, tensor, factor), mesh, step.is_conservative
    )


def _shared_with_results(step: FactorPropagation, factor: int, axes: Axes) -> Axes:
    """Axes do not go sideways from operand to operand where a result could not take them."""
    for result in step.results:
        current = result.factors.get(factor)
        if current is not None and is_strict_prefix(current.axes, axes):
            axes = current.axes
    return axes


def _by_preference(step: FactorPropagation, axes: list[Axes]) -> list[int]:
    """The factors, those that win first."""
    sources = _sources(step, axes)

    def key(factor: int) -> tuple[int, int, int, int]:
        size, tensor = sources[factor]
        sharded_size = prod(axis.size(step.mesh) for axis in axes[factor]) if step.is_elementwise else 0
        return -size, -sharded_size, tensor, factor

    return sorted(range(len(axes)), key=key)


def _sources(step: FactorPropagation, axes: list[Axes]) -> list[tuple[int, int]]:
    """For each factor, the size and number of the largest tensor that has all its axes; -1 if none."""
    found = [(-1, -1)] * len(axes)
    for number, tensor in enumerate(step.tensors):
        size = prod(step.sizes[factor] for factor in tensor.factors)
        for factor, current in tensor.factors.items():
            if axes[factor] and size > found[factor][0] and is_prefix(axes[factor], current.axes):
                found[factor] = (size, number)
    return found
