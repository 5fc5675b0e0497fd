"""The alternatives of a conflict resolution: other common axes that an operation could have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.sharding.axis_lists import Axes, overlap
from sdyopt.sharding.explicit_reshards.axis_assignment import assign_axes_to_factors, weighted_candidates
from sdyopt.sharding.explicit_reshards.common_axes import (
    already_common_axes,
    find_common_axes,
    redistribute_replicated_axes,
)
from sdyopt.sharding.sharding_projection import TensorProjection


class Alternative(NamedTuple):
    """The axes of each factor, and the candidate that decides them: a factor and axes for it.

    `elements` is the number of elements that these axes shard, in all operands and results that have them.
    """

    axes: tuple[Axes, ...]
    factor: int
    factor_axes: Axes
    elements: int


def alternatives(
    rule: OpShardingRule,
    tensors: Sequence[TensorProjection],
    sizes: Sequence[int],
    mesh: Mesh,
    axes_in_conflict: Axes = (),
) -> list[Alternative]:
    """The chosen alternative, then those that begin with another candidate; none if there is no conflict.

    The chosen one has the candidate that won `axes_in_conflict`, or else the best one.
    """
    if already_common_axes(rule, tensors) is not None:
        return []
    chosen = tuple(find_common_axes(rule, tensors, sizes, mesh))
    found: dict[tuple[Axes, ...], Alternative] = {}
    candidates = weighted_candidates(rule, tensors, sizes, mesh)
    winners = [each for each in candidates if each[1] == chosen[each[0]]]
    winners.sort(key=lambda candidate: not overlap(candidate[1], axes_in_conflict))
    for factor, axes, elements in winners:
        found.setdefault(chosen, Alternative(chosen, factor, axes, elements))
    found.setdefault(chosen, Alternative(chosen, -1, (), 0))
    for factor, axes, elements in candidates:
        if overlap(axes, chosen[factor]) or (axes_in_conflict and not overlap(axes, axes_in_conflict)):
            continue
        assigned = assign_axes_to_factors(rule, tensors, sizes, mesh, (factor, axes))
        redistribute_replicated_axes(rule, assigned, mesh)
        found.setdefault(tuple(assigned), Alternative(tuple(assigned), factor, axes, elements))
    return list(found.values())
