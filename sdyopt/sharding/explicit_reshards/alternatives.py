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

    `elements` is the number of elements that the candidate shards, in all operands and results that have its
    axes. If no candidate decides, `factor` is -1.
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
    """The chosen alternative, then those in which another candidate is assigned first.

    Empty if there is no conflict. The candidate of the chosen alternative is the best of those that won
    `axes_in_conflict` or, if none did, of all that won.
    """
    if already_common_axes(rule, tensors) is not None:
        return []
    chosen = tuple(find_common_axes(rule, tensors, sizes, mesh))
    candidates = weighted_candidates(rule, tensors, sizes, mesh)
    winners = [each for each in candidates if each[1] == chosen[each[0]]]
    winners.sort(key=lambda candidate: not overlap(candidate[1], axes_in_conflict))
    winner = winners[0] if winners else (-1, (), 0)
    found = {chosen: Alternative(chosen, *winner)}
    for factor, axes, elements in candidates:
        if overlap(axes, chosen[factor]) or (axes_in_conflict and not overlap(axes, axes_in_conflict)):
            continue
        assigned = assign_axes_to_factors(rule, tensors, sizes, mesh, (factor, axes))
        if not assigned[factor]:
            # The factor depends on other factors, which must be fully sharded first.
            continue
        redistribute_replicated_axes(rule, assigned, mesh)
        found.setdefault(tuple(assigned), Alternative(tuple(assigned), factor, axes, elements))
    return list(found.values())
