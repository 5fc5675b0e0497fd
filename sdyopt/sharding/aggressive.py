"""The aggressive strategy: where axes are in each other's way, one wins, in each tensor for itself.

First the tensors agree on axes for each factor, whatever is in the way. Then each tensor takes what it
can, factor by factor. The factors that come first win: those whose axes come from the largest tensor;
in elementwise operations, of these the ones that are split the most ways; then those whose axes come
from an earlier tensor. Results take before operands.
"""

from __future__ import annotations

from math import prod

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.axes import Axes, is_beginning, is_strict_beginning
from sdyopt.sharding.basic import agreed_axes, cut, possible_within, unused_by_others
from sdyopt.sharding.factors import FactorStep
from sdyopt.sharding.projection import TensorProjection


def propagate_aggressively(step: FactorStep) -> None:
    """Splits factors further where their tensor allows it."""
    axes = [agreed_axes(step, factor, direction) for factor, direction in enumerate(step.directions)]
    if not any(axes):
        return
    order = _by_preference(step, axes)
    for tensor in step.results:
        for factor in order:
            _take(tensor, factor, _possible(step, tensor, factor, axes[factor]))
    for tensor in step.operands:
        for factor in order:
            possible = _possible(step, tensor, factor, axes[factor])
            if possible and step.is_elementwise:
                possible = _shared_with_results(step, factor, possible)
            _take(tensor, factor, possible)


def _take(tensor: TensorProjection, factor: int, axes: Axes) -> None:
    if axes and is_strict_beginning(tensor.factors[factor].axes, axes):
        tensor.split(factor, axes)


def _possible(step: FactorStep, tensor: TensorProjection, factor: int, axes: Axes) -> Axes:
    """The axes that a factor of a tensor can take, as things are now; none if it has as many already."""
    held = tensor.factors.get(factor)
    if held is None or not axes:
        return ()
    size, mesh = step.sizes[factor], step.mesh

    def within(axis: AxisRef, ways: int) -> AxisRef | None:
        return possible_within(axis, tensor, held, size, ways, mesh)

    axes = cut(axes, within, mesh, step.is_conservative)
    if not is_strict_beginning(held.axes, axes):
        return ()
    return cut(axes, lambda axis, _: unused_by_others(axis, tensor, factor), mesh, step.is_conservative)


def _shared_with_results(step: FactorStep, factor: int, axes: Axes) -> Axes:
    """Axes do not go sideways from operand to operand where a result could not take them."""
    for result in step.results:
        held = result.factors.get(factor)
        if held is not None and is_strict_beginning(held.axes, axes):
            axes = held.axes
    return axes


def _by_preference(step: FactorStep, axes: list[Axes]) -> list[int]:
    """The factors, those that win first."""
    sources = _sources(step, axes)

    def key(factor: int) -> tuple[int, int, int, int]:
        size, tensor = sources[factor]
        ways = prod(axis.size(step.mesh) for axis in axes[factor]) if step.is_elementwise else 0
        return -size, -ways, tensor, factor

    return sorted(range(len(axes)), key=key)


def _sources(step: FactorStep, axes: list[Axes]) -> list[tuple[int, int]]:
    """For each factor, the size and number of the largest tensor that has all its axes; -1 if none."""
    found = [(-1, -1)] * len(axes)
    for number, tensor in enumerate(step.tensors):
        size = prod(step.sizes[factor] for factor in tensor.factors)
        for factor, held in tensor.factors.items():
            if axes[factor] and size > found[factor][0] and is_beginning(axes[factor], held.axes):
                found[factor] = (size, number)
    return found
