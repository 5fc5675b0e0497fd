"""Finds common axes: one axis list per factor, which conflicting operands and results get greedily.

Compatible shardings are kept. If exactly two tensors are not scalars, one of them keeps its sharding, unless
a factor needs replication or a dimension has several factors. Otherwise axes are assigned to factors
greedily; then the axes of factors that need replication move to pass-through factors that all tensors have,
so that the operation is still sharded along them.

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

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import with_axis
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.shardy.sharding.axis_lists import (
    Axes,
    is_strict_prefix,
    overlap,
    prefix_without_overlap,
    sharded_size,
)
from sdyopt.shardy.sharding.sharding_projection import TensorProjection


def find_common_axes(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int], mesh: Mesh
) -> list[Axes]:
    """The axes of each factor. `sizes` are the numbers of elements of the tensors."""
    common = already_common_axes(rule, tensors)
    if common is not None:
        return common
    non_scalars = [index for index, mapping in enumerate(rule.tensors) if mapping.dims]
    if len(non_scalars) == 2 and not rule.need_replication and not has_multi_factor_dimension(rule):
        return _axes_of_two_tensors(rule, tensors, sizes, mesh, *non_scalars)
    axes = assign_axes_to_factors(rule, tensors, sizes, mesh)
    redistribute_replicated_axes(rule, axes, mesh)
    return axes


def already_common_axes(rule: OpShardingRule, tensors: Sequence[TensorProjection]) -> list[Axes] | None:
    """The axes of each factor if the shardings are compatible, None if they are not.

    They are compatible if all tensors have the same axes for each factor, factors that need replication have
    none, and the axes of no two factors overlap.
    """
    common: list[Axes] = []
    used: Axes = ()
    for factor in range(len(rule.factor_sizes)):
        axes = common_factor_axes(tensors, factor)
        if axes is None or overlap(axes, used) or (axes and factor in rule.need_replication):
            return None
        common.append(axes)
        used += axes
    return common


def common_factor_axes(tensors: Sequence[TensorProjection], factor: int) -> Axes | None:
    """The axes of a factor in all tensors that have it; None if they differ."""
    common: Axes | None = None
    for tensor in tensors:
        sharding = tensor.factors.get(factor)
        if sharding is None:
            continue
        if common is None:
            common = sharding.axes
        elif common != sharding.axes:
            return None
    return common or ()


# --- Two tensors ----------------------------------------------------------------------------------


def _axes_of_two_tensors(
    rule: OpShardingRule,
    tensors: Sequence[TensorProjection],
    sizes: Sequence[int],
    mesh: Mesh,
    first: int,
    second: int,
) -> list[Axes]:
    """Keeps the axes of one tensor; a factor that only the other has keeps its axes before an overlap."""

    def preference(index: int) -> tuple[bool, int, int]:
        tensor = tensors[index]
        has_permutation = any(
            sharding.axes for factor, sharding in tensor.factors.items() if factor in rule.permutation
        )
        return not has_permutation, sizes[index], tensor.sharded_size(mesh)

    kept, other = (first, second) if preference(first) >= preference(second) else (second, first)
    axes: list[Axes] = [()] * len(rule.factor_sizes)
    used: Axes = ()
    kept_factors = tensors[kept].factors
    for factor, sharding in kept_factors.items():
        axes[factor] = sharding.axes
        used += sharding.axes
    for factor, sharding in tensors[other].factors.items():
        if factor not in kept_factors:
            axes[factor] = prefix_without_overlap(sharding.axes, used)
    return axes


def has_multi_factor_dimension(rule: OpShardingRule) -> bool:
    """Whether a dimension of an operand or result has several factors."""
    return any(len(dim.factors) > 1 for mapping in rule.tensors for dim in mapping.dims)


# --- Factors that need replication ----------------------------------------------------------------


def redistribute_replicated_axes(rule: OpShardingRule, axes: list[Axes], mesh: Mesh) -> None:
    """Moves the axes of factors that need replication to batching factors.

    Both factors must be in all tensors that are not scalars. Axes that cannot be moved are dropped.
    """
    batching_factors = [factor for factor in range(len(axes)) if _is_batching(rule, factor)]
    for factor in rule.need_replication:
        replicated_axes, axes[factor] = axes[factor], ()
        if replicated_axes and _is_in_all_tensors(rule, factor):
            _distribute(replicated_axes, batching_factors, rule, axes, mesh)


def _distribute(
    new_axes: Axes, factors: Sequence[int], rule: OpShardingRule, axes: list[Axes], mesh: Mesh
) -> None:
    """Appends axes in order, to each factor as many as divide its capacity, size / sharded size."""
    # The next axis comes last.
    remaining = list(reversed(new_axes))
    for factor in factors:
        size, factor_sharded_size = rule.factor_sizes[factor], sharded_size(axes[factor], mesh)
        if size == 0 or size % factor_sharded_size:
            continue
        capacity = size // factor_sharded_size
        while remaining and capacity % remaining[-1].size(mesh) == 0:
            axis = remaining.pop()
            capacity //= axis.size(mesh)
            axes[factor] = with_axis(axes[factor], axis, mesh)


def _is_batching(rule: OpShardingRule, factor: int) -> bool:
    """Whether this is a pass-through factor of all tensors that are not scalars."""
    special = factor in rule.reduction or factor in rule.need_replication or factor in rule.permutation
    return not special and _is_in_all_tensors(rule, factor)


def _is_in_all_tensors(rule: OpShardingRule, factor: int) -> bool:
    """Whether every operand and result that is not a scalar has this factor."""
    return all(mapping.has_factor(factor) for mapping in rule.tensors if mapping.dims)


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
    made: Sequence[Axes] | None = None,
) -> list[Alternative]:
    """The chosen alternative, then those in which another candidate is assigned first.

    Empty if there is no conflict. `made` are the chosen axes if it was not chosen as by `find_common_axes`.
    The candidate of the chosen alternative is the best of those that won `axes_in_conflict` or, if none did,
    of all that won.
    """
    if already_common_axes(rule, tensors) is not None:
        return []
    chosen = tuple(find_common_axes(rule, tensors, sizes, mesh) if made is None else made)
    candidates = weighted_candidates(rule, tensors, sizes, mesh)
    winners = [candidate for candidate in candidates if candidate[1] == chosen[candidate[0]]]
    winners.sort(key=lambda candidate: not overlap(candidate[1], axes_in_conflict))
    winner = winners[0] if winners else (-1, (), 0)
    options = {chosen: Alternative(chosen, *winner)}
    for factor, axes, elements in candidates:
        if overlap(axes, chosen[factor]) or (axes_in_conflict and not overlap(axes, axes_in_conflict)):
            continue
        assigned = assign_axes_to_factors(rule, tensors, sizes, mesh, (factor, axes))
        if not assigned[factor]:
            # The factor depends on other factors, which must be fully sharded first.
            continue
        redistribute_replicated_axes(rule, assigned, mesh)
        options.setdefault(tuple(assigned), Alternative(tuple(assigned), factor, axes, elements))
    return list(options.values())


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
            best = max(available, key=_Candidate.preference, default=None)
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
    candidates = sorted(_candidates(rule, tensors, sizes, mesh), key=_Candidate.preference, reverse=True)
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

    def preference(self) -> tuple[object, ...]:
        """The sort key of candidates. Factor and axes make it unique."""
        axes = self.axes
        return (
            self.weight,
            self.precedence,
            self.growth,
            self.factor,
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
