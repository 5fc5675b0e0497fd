"""Assigns axes to factors when operands and results conflict.

The axes of every factor in every tensor, and all their prefixes, are candidates. Greedily, the best candidate
is assigned to its factor, and the remaining candidates are truncated where they overlap its axes. The best
candidate is the one that shards the most elements, summed over all tensors in which the factor is sharded
along these axes or more. Ties are resolved by factor type (pass-through, then reduction, permutation and
need-replication), then by how much the sharded size of the factor grows, then by factor index and axes.

A factor depends on the factors before it in a dimension: it gets no axes until they are fully sharded,
because its shards would not be contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.shardy.sharding.axis_lists import Axes, is_strict_prefix, prefix_without_overlap, sharded_size
from sdyopt.shardy.sharding.sharding_projection import TensorProjection


class _Precedence(IntEnum):
    """Factor types; the highest is preferred."""

    NEED_REPLICATION = 0
    PERMUTATION = 1
    REDUCTION = 2
    PASS_THROUGH = 3


def assign_axes_to_factors(
    rule: OpShardingRule,
    tensors: Sequence[TensorProjection],
    sizes: Sequence[int],
    mesh: Mesh,
    first: tuple[int, Axes] | None = None,
) -> list[Axes]:
    """The axes of each factor. `sizes` are the numbers of elements of the tensors.

    `first` is a candidate that is assigned before the best candidate, to find out what follows from it. If
    its factor depends on others, which are not fully sharded at first, no axes are assigned.
    """
    assigned: list[Axes] = [()] * len(rule.factor_sizes)
    dependencies = _FactorDependencies(rule)
    candidates = _candidates(rule, tensors, sizes, mesh)
    while candidates:
        available = (
            candidate for candidate in candidates if dependencies.are_fully_sharded(candidate.factor)
        )
        forced, first = first, None
        if forced is None:
            best = max(available, key=_preference, default=None)
        else:
            best = next(
                (candidate for candidate in available if (candidate.factor, candidate.axes) == forced), None
            )
        if best is None:
            break
        assigned[best.factor] = best.axes
        if sharded_size(best.axes, mesh) == rule.factor_sizes[best.factor]:
            dependencies.mark_fully_sharded(best.factor)
        chosen = best.factor, best.axes
        candidates = [
            candidate
            for candidate in candidates
            if candidate.update(*chosen, assigned[candidate.factor], mesh)
        ]
    return assigned


def weighted_candidates(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int], mesh: Mesh
) -> list[tuple[int, Axes, int]]:
    """Each candidate, by descending preference: a factor, its axes, and how many elements they shard."""
    candidates = sorted(_candidates(rule, tensors, sizes, mesh), key=_preference, reverse=True)
    return [(candidate.factor, candidate.axes, candidate.weight) for candidate in candidates]


class _Candidate:
    """A factor and axes for it.

    `weight` is the number of elements of all tensors in which the factor is sharded along these axes or more,
    `growth` the ratio of the sharded sizes of the factor after and before these axes are assigned to it.
    """

    __slots__ = ("axes", "factor", "growth", "precedence", "weight")

    def __init__(self, factor: int, axes: Axes, precedence: _Precedence, growth: int) -> None:
        self.factor = factor
        self.axes = axes
        self.precedence = precedence
        self.growth = growth
        self.weight = 0

    def update(self, factor: int, axes: Axes, assigned: Axes, mesh: Mesh) -> bool:
        """Updates this candidate after `axes` have been assigned to a factor.

        `assigned` are the axes that this candidate's own factor has so far. Returns whether it remains a
        candidate, that is, whether its axes still extend `assigned`.
        """
        if self.factor == factor:
            if not is_strict_prefix(axes, self.axes):
                return False
            self.growth = sharded_size(self.axes, mesh) // sharded_size(axes, mesh)
            return True
        remaining = prefix_without_overlap(self.axes, axes)
        if remaining == self.axes:
            # As in Shardy, the growth includes the assigned axes here; this decides ties.
            self.growth = sharded_size(self.axes, mesh)
            return True
        if remaining == assigned:
            return False
        self.axes = remaining
        self.growth = sharded_size(remaining, mesh) // sharded_size(assigned, mesh)
        return True


def _preference(candidate: _Candidate) -> tuple[object, ...]:
    """The sort key of candidates. Factor and axes make it unique."""
    axes = candidate.axes
    return (
        candidate.weight,
        candidate.precedence,
        candidate.growth,
        candidate.factor,
        len(axes),
        [axis.sort_key for axis in axes],
    )


def _candidates(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int], mesh: Mesh
) -> list[_Candidate]:
    by_axes: dict[tuple[int, Axes], _Candidate] = {}
    for tensor in tensors:
        for factor, sharding in tensor.factors.items():
            for count in range(len(sharding.axes), 0, -1):
                axes = sharding.axes[:count]
                if (factor, axes) not in by_axes:
                    size = sharded_size(axes, mesh)
                    by_axes[factor, axes] = _Candidate(factor, axes, _precedence(rule, factor), size)
    candidates = list(by_axes.values())
    for tensor, size in zip(tensors, sizes, strict=True):
        for candidate in candidates:
            factor_sharding = tensor.factors.get(candidate.factor)
            if factor_sharding is None:
                continue
            axes = factor_sharding.axes
            if axes == candidate.axes or is_strict_prefix(candidate.axes, axes):
                candidate.weight += size
    return candidates


def _precedence(rule: OpShardingRule, factor: int) -> _Precedence:
    if factor in rule.reduction:
        return _Precedence.REDUCTION
    if factor in rule.need_replication:
        return _Precedence.NEED_REPLICATION
    return _Precedence.PERMUTATION if factor in rule.permutation else _Precedence.PASS_THROUGH


class _FactorDependencies:
    """For each factor, the factors directly before it in a dimension that are not fully sharded yet."""

    def __init__(self, rule: OpShardingRule) -> None:
        self._dependencies: dict[int, set[int]] = {}
        for mapping in rule.tensors:
            for dim in mapping.dims:
                for before, factor in zip(dim.factors, dim.factors[1:], strict=False):
                    self._dependencies.setdefault(factor, set()).add(before)

    def are_fully_sharded(self, factor: int) -> bool:
        """Whether all factors that a factor depends on are fully sharded."""
        return not self._dependencies.get(factor)

    def mark_fully_sharded(self, factor: int) -> None:
        for dependencies in self._dependencies.values():
            dependencies.discard(factor)
