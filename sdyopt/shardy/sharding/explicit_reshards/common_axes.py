"""Finds common axes: one axis list per factor, for all operands and results of an operation.

Compatible shardings are kept. If exactly two tensors are not scalars, one of them keeps its sharding, unless
a factor needs replication or a dimension has several factors. Otherwise axes are assigned to factors
greedily; then the axes of factors that need replication move to pass-through factors that all tensors have,
so that the operation is still sharded along them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import with_axis
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.shardy.sharding.axis_lists import Axes, overlap, prefix_without_overlap, sharded_size
from sdyopt.shardy.sharding.explicit_reshards.axis_assignment import (
    assign_axes_to_factors,
    weighted_candidates,
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
