"""A contest for axes: which factor gets which, when operands and results disagree.

Every list of axes that splits a factor somewhere, and every beginning of it, is a candidate. Round by
round the best one wins and its factor is split so; what the others want of the same axes is cut off.
Best is what splits most elements, counted over all tensors that are split so or further. Among equals
a factor that passes through is better than a reduction, that than a permutation, and that than one that
has to be replicated; then the longer split counts.

A factor cannot be split while another before it in some dimension is not split fully, because then its
parts would not be contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.sharding.axis_lists import Axes, is_strict_prefix, prefix_without_overlap, sharded_size
from sdyopt.sharding.sharding_projection import TensorProjection

_PASS_THROUGH, _REDUCTION, _PERMUTATION, _NEED_REPLICATION = 3, 2, 1, 0


def assign_axes_to_factors(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int], mesh: Mesh
) -> list[Axes]:
    """The axes of each factor. `sizes` are the numbers of elements of the tensors."""
    assigned: list[Axes] = [()] * len(rule.factor_sizes)
    blocked = _BlockedFactors(rule)
    candidates = _candidates(rule, tensors, sizes, mesh)
    while candidates:
        best = max((c for c in candidates if blocked.is_free(c.factor)), key=_preference, default=None)
        if best is None:
            break
        assigned[best.factor] = best.axes
        if sharded_size(best.axes, mesh) == rule.factor_sizes[best.factor]:
            blocked.mark_full(best.factor)
        winner = best.axes, best.factor
        candidates = [c for c in candidates if c.remains_useful(*winner, assigned[c.factor], mesh)]
    return assigned


class _AxisAssignment:
    """A factor and axes for it; `weight` elements are split so, and `gain` is how much further it goes."""

    __slots__ = ("axes", "factor", "gain", "precedence", "weight")

    def __init__(self, factor: int, axes: Axes, precedence: int, gain: int) -> None:
        self.factor = factor
        self.axes = axes
        self.precedence = precedence
        self.gain = gain
        self.weight = 0

    def remains_useful(self, axes: Axes, factor: int, held: Axes, mesh: Mesh) -> bool:
        """Whether this still asks for more than its factor holds, now that a factor has won some axes."""
        if self.factor == factor:
            if not is_strict_prefix(axes, self.axes):
                return False
            self.gain = sharded_size(self.axes, mesh) // sharded_size(axes, mesh)
            return True
        left = prefix_without_overlap(self.axes, axes)
        if left == self.axes:
            # What the factor holds already counts again; the reference does so, and it decides ties.
            self.gain = sharded_size(self.axes, mesh)
            return True
        if left == held:
            return False
        self.axes = left
        self.gain = sharded_size(left, mesh) // sharded_size(held, mesh)
        return True


def _preference(candidate: _AxisAssignment) -> tuple[object, ...]:
    """What decides; at last the number of the factor, and the axes by name, so that there is no tie."""
    axes = candidate.axes
    return (
        candidate.weight,
        candidate.precedence,
        candidate.gain,
        candidate.factor,
        len(axes),
        [_by_name(axis) for axis in axes],
    )


def _by_name(axis: AxisRef) -> tuple[str, int, int]:
    return axis.name, axis.pre_size, axis.reach


def _candidates(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int], mesh: Mesh
) -> list[_AxisAssignment]:
    found: dict[tuple[int, Axes], _AxisAssignment] = {}
    for tensor in tensors:
        for factor, sharding in tensor.factors.items():
            for count in range(len(sharding.axes), 0, -1):
                axes = sharding.axes[:count]
                if (factor, axes) not in found:
                    precedence = _precedence(rule, factor)
                    found[factor, axes] = _AxisAssignment(factor, axes, precedence, sharded_size(axes, mesh))
    candidates = list(found.values())
    for tensor, size in zip(tensors, sizes, strict=True):
        for candidate in candidates:
            split = tensor.factors.get(candidate.factor)
            if split is None:
                continue
            if split.axes == candidate.axes or is_strict_prefix(candidate.axes, split.axes):
                candidate.weight += size
    return candidates


def _precedence(rule: OpShardingRule, factor: int) -> int:
    if factor in rule.reduction:
        return _REDUCTION
    if factor in rule.need_replication:
        return _NEED_REPLICATION
    return _PERMUTATION if factor in rule.permutation else _PASS_THROUGH


class _BlockedFactors:
    """For each factor, those before it that are not split fully."""

    def __init__(self, rule: OpShardingRule) -> None:
        self._before: dict[int, set[int]] = {}
        for mapping in rule.tensors:
            for dim in mapping.dims:
                for before, factor in zip(dim.factors, dim.factors[1:], strict=False):
                    self._before.setdefault(factor, set()).add(before)

    def is_free(self, factor: int) -> bool:
        return not self._before.get(factor)

    def mark_full(self, factor: int) -> None:
        for before in self._before.values():
            before.discard(factor)
