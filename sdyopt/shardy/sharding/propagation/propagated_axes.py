"""The axes that a propagation step adds to shardings, each with the tensor that it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.shardy.sharding.axis_lists import Axes, is_prefix
from sdyopt.shardy.sharding.propagation.propagation_step import StepResult
from sdyopt.shardy.sharding.sharding_projection import TensorProjection


class PropagatedAxis(NamedTuple):
    """An axis and the tensors between which it propagated, by index among operands and results."""

    axis: AxisRef
    source: int
    target: int


def propagated_axes(rule: OpShardingRule, step: StepResult) -> Iterator[PropagatedAxis]:
    """Each axis that a step adds to a factor of a tensor, with the tensor that it comes from.

    This is the first tensor in which the factor had all its new axes before the step. If there is no such
    tensor, the axis is left out.
    """
    for target, mapping in enumerate(rule.tensors):
        sources = _new_axes(mapping, step.before[target], step.after[target], step.before, step.mesh)
        for axis, source in sources.items():
            yield PropagatedAxis(axis, source, target)


def _new_axes(
    mapping: TensorMapping,
    old: TensorProjection,
    new: TensorProjection,
    before: Sequence[TensorProjection],
    mesh: Mesh,
) -> dict[AxisRef, int]:
    sources: dict[AxisRef, int] = {}
    for dim in mapping.dims:
        previous: AxisRef | None = None
        for factor in dim.factors:
            old_sharding, new_sharding = old.factors.get(factor), new.factors.get(factor)
            if old_sharding is None or new_sharding is None or old_sharding.axes == new_sharding.axes:
                continue
            axes = new_sharding.axes
            last = axes[-1]
            if previous is not None and previous.can_merge(last):
                # Adjacent sub-axes of two factors are one axis of the dimension.
                sources.pop(previous, None)
                last = previous.merge(last, mesh)
            previous = axes[-1]
            source = _source_tensor(factor, axes, before)
            if source is not None:
                for axis in _added_axes(old_sharding.axes, (*axes[:-1], last)):
                    sources.setdefault(axis, source)
    return sources


def _added_axes(old: Axes, new: Axes) -> Axes:
    """The axes of `new` that its prefix `old` lacks; `old` may end with a sub-axis of the first of them."""
    count = len(old)
    return new[count - 1 :] if old and old[-1] is not new[count - 1] else new[count:]


def _source_tensor(factor: int, axes: Axes, before: Sequence[TensorProjection]) -> int | None:
    for index, tensor in enumerate(before):
        sharding = tensor.factors.get(factor)
        if sharding is not None and is_prefix(axes, sharding.axes):
            return index
    return None
