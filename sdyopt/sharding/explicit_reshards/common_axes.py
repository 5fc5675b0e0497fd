"""Agreement: one way to split each factor of an operation, for all of its operands and results.

What they agree on already is kept. If an operation has just two tensors, one of them follows the other;
if it has more, there is a contest. Then axes of factors that have to be replicated are free, and go to
factors that all tensors have, so that the operation still runs on parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.sdy.axes import with_axis
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.sharding.axis_lists import Axes, overlap, prefix_without_overlap, sharded_size
from sdyopt.sharding.explicit_reshards.axis_assignment import assign_axes_to_factors
from sdyopt.sharding.sharding_projection import TensorProjection


def find_common_axes(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int], mesh: Mesh
) -> list[Axes]:
    """The axes of each factor. `sizes` are the numbers of elements of the tensors."""
    agreed = already_common_axes(rule, tensors)
    if agreed is not None:
        return agreed
    shaped = [number for number, mapping in enumerate(rule.tensors) if mapping.dims]
    if len(shaped) == 2 and not rule.need_replication and not _has_multi_factor_dimension(rule):
        return _axes_of_two_tensors(rule, tensors, sizes, mesh, *shaped)
    axes = assign_axes_to_factors(rule, tensors, sizes, mesh)
    redistribute_replicated_axes(rule, axes, mesh)
    return axes


def already_common_axes(rule: OpShardingRule, tensors: Sequence[TensorProjection]) -> list[Axes] | None:
    """The axes of each factor if nothing has to change, None if something has to.

    Nothing has to if all tensors split each factor alike, none a factor that has to be replicated, and no
    axis splits two factors.
    """
    agreed: list[Axes] = []
    seen: Axes = ()
    for factor in range(len(rule.factor_sizes)):
        axes = common_factor_axes(tensors, factor)
        if axes is None or overlap(axes, seen) or (axes and factor in rule.need_replication):
            return None
        agreed.append(axes)
        seen += axes
    return agreed


def common_factor_axes(tensors: Sequence[TensorProjection], factor: int) -> Axes | None:
    """How all tensors that have a factor split it; None if they disagree."""
    found: Axes | None = None
    for tensor in tensors:
        split = tensor.factors.get(factor)
        if split is None:
            continue
        if found is None:
            found = split.axes
        elif found != split.axes:
            return None
    return found or ()


# --- Two tensors ----------------------------------------------------------------------------------


def _axes_of_two_tensors(
    rule: OpShardingRule,
    tensors: Sequence[TensorProjection],
    sizes: Sequence[int],
    mesh: Mesh,
    first: int,
    second: int,
) -> list[Axes]:
    """One tensor stays as it is. Of the other, what only it has stays as far as there are axes for it."""

    def worth(number: int) -> tuple[bool, int, int]:
        tensor = tensors[number]
        permuted = any(split.axes for factor, split in tensor.factors.items() if factor in rule.permutation)
        return not permuted, sizes[number], tensor.sharded_size(mesh)

    staying, other = (first, second) if worth(first) >= worth(second) else (second, first)
    axes: list[Axes] = [()] * len(rule.factor_sizes)
    taken: Axes = ()
    kept = tensors[staying].factors
    for factor, split in kept.items():
        axes[factor] = split.axes
        taken += split.axes
    for factor, split in tensors[other].factors.items():
        if factor not in kept:
            axes[factor] = prefix_without_overlap(split.axes, taken)
    return axes


def _has_multi_factor_dimension(rule: OpShardingRule) -> bool:
    return any(len(dim.factors) > 1 for mapping in rule.tensors for dim in mapping.dims)


# --- Axes that cannot stay ------------------------------------------------------------------------


def redistribute_replicated_axes(rule: OpShardingRule, axes: list[Axes], mesh: Mesh) -> None:
    """Takes the axes of factors that have to be replicated away, and gives them to others.

    Only axes on which all tensors agreed can be given away, and only factors that all have can take them.
    """
    takers = [factor for factor in range(len(axes)) if _is_batching(rule, factor)]
    for factor in rule.need_replication:
        free, axes[factor] = axes[factor], ()
        if free and _is_everywhere(rule, factor):
            _distribute(free, takers, rule, axes, mesh)


def _distribute(
    free: Axes, takers: Sequence[int], rule: OpShardingRule, axes: list[Axes], mesh: Mesh
) -> None:
    """Gives axes away in order, to each taker as many as divide it."""
    left = list(reversed(free))
    for factor in takers:
        size, split = rule.factor_sizes[factor], sharded_size(axes[factor], mesh)
        if size == 0 or size % split:
            continue
        room = size // split
        while left and room % left[-1].size(mesh) == 0:
            axis = left.pop()
            room //= axis.size(mesh)
            axes[factor] = with_axis(axes[factor], axis, mesh)


def _is_batching(rule: OpShardingRule, factor: int) -> bool:
    special = factor in rule.reduction or factor in rule.need_replication or factor in rule.permutation
    return not special and _is_everywhere(rule, factor)


def _is_everywhere(rule: OpShardingRule, factor: int) -> bool:
    """Whether every operand and result has a factor; those without dimensions do not count."""
    return all(mapping.has_factor(factor) for mapping in rule.tensors if mapping.dims)
