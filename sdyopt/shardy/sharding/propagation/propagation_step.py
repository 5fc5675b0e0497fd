"""One propagation step: from the shardings of an operation's operands and results to updated ones.

A step is a pure function of its kind, the sharding rule, the shardings and their mesh. A program has many
operations and few distinct steps, so the updates of each step are computed once and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cache, partial
from typing import NamedTuple

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup, common_mesh_or_ref
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.shardy.sharding.axis_lists import Axes, is_prefix
from sdyopt.shardy.sharding.propagation.aggressive_factor_propagation import propagate_aggressive
from sdyopt.shardy.sharding.propagation.basic_factor_propagation import (
    propagate_basic,
    refuse_for_further_reasons,
)
from sdyopt.shardy.sharding.propagation.step_input import (
    DirectionPolicy,
    Preference,
    Reason,
    Refusal,
    StepInput,
    StepTrace,
    factor_directions,
)
from sdyopt.shardy.sharding.sharding_projection import TensorProjection, project, single_factors, unproject

# The shardings of the operands, then of the results.
Shardings = tuple[TensorSharding | None, ...]

# (index among operands and results, new sharding)
Updates = tuple[tuple[int, TensorSharding], ...]


class Strategy(Enum):
    """The strategy by which a step resolves conflicts."""

    BASIC = "basic"
    AGGRESSIVE = "aggressive"

    __hash__ = object.__hash__


_PROPAGATE: dict[Strategy, Callable[[StepInput], None]] = {
    Strategy.BASIC: propagate_basic,
    Strategy.AGGRESSIVE: propagate_aggressive,
}


class StepKind(NamedTuple):
    """The parameters of a step, apart from its rule, shardings and mesh."""

    policy: DirectionPolicy
    strategy: Strategy
    is_elementwise: bool = False
    is_conservative: bool = False


class StepResult(NamedTuple):
    """The projections of operands and results before and after a step, and the updated shardings."""

    mesh: Mesh
    before: list[TensorProjection]
    after: list[TensorProjection]
    updates: Updates


class StepRefusals(NamedTuple):
    """The refusals of a step, and the preference of each factor in the aggressive strategy.

    `result` is None for a step that does not run.
    """

    refusals: Sequence[Refusal]
    preference: Sequence[Preference]
    result: StepResult | None


class StepRunner:
    """Runs the steps of one kind in one program, and caches their updates.

    `mesh_of` resolves the meshes of the program, which must not change.
    """

    __slots__ = ("_directions", "_updates", "kind", "mesh_of")

    def __init__(self, kind: StepKind, mesh_of: MeshLookup) -> None:
        self.kind = kind
        self.mesh_of = mesh_of
        self._directions = cache(partial(factor_directions, kind.policy))
        self._updates: dict[tuple[OpShardingRule, Shardings], Updates] = {}

    def updates(self, rule: OpShardingRule, shardings: Shardings) -> Updates:
        """The operands and results whose sharding changes, with their new shardings."""
        key = rule, shardings
        updates = self._updates.get(key)
        if updates is None:
            result = None if is_at_fixed_point(rule, shardings) else self.run(rule, shardings)
            updates = self._updates[key] = () if result is None else result.updates
        return updates

    def run(self, rule: OpShardingRule, shardings: Shardings) -> StepResult | None:
        """Runs a step without the cache.

        None if the shardings have no common mesh, if it is maximal, or if ranks of shardings and rule differ.
        """
        mesh_or_ref = common_mesh_or_ref(shardings, self.mesh_of)
        mesh = None if mesh_or_ref is None else self.mesh_of(mesh_or_ref)
        if mesh_or_ref is None or mesh is None or mesh.is_maximal or not _have_ranks_of(rule, shardings):
            return None
        return self._run_on(rule, shardings, mesh_or_ref, mesh, project(rule, shardings, mesh))

    def refusals(self, rule: OpShardingRule, shardings: Shardings) -> StepRefusals:
        """Runs a step again, to find out which axes it does not propagate."""
        mesh_or_ref = common_mesh_or_ref(shardings, self.mesh_of)
        mesh = None if mesh_or_ref is None else self.mesh_of(mesh_or_ref)
        if mesh_or_ref is None or mesh is None or mesh.is_maximal or not _have_ranks_of(rule, shardings):
            reason = Reason.MESHES
            if mesh is not None:
                reason = Reason.MAXIMAL_MESH if mesh.is_maximal else Reason.RANK
            whole = [Refusal(reason, factor, ()) for factor in range(len(rule.factor_sizes))]
            return StepRefusals(whole, (), None)
        tensors = project(rule, shardings, mesh)
        trace = StepTrace(tensors)
        result = self._run_on(rule, shardings, mesh_or_ref, mesh, tensors, trace)
        for refusal in list(trace.refusals):
            refuse_for_further_reasons(refusal, rule.factor_sizes, tensors, mesh, trace)
        refusals = [_with_overflow(refusal, rule, shardings, result.before) for refusal in trace.refusals]
        return StepRefusals(refusals, trace.preference, result)

    def _run_on(
        self,
        rule: OpShardingRule,
        shardings: Shardings,
        mesh_or_ref: MeshOrRef,
        mesh: Mesh,
        tensors: list[TensorProjection],
        trace: StepTrace | None = None,
    ) -> StepResult:
        before = [tensor.copy() for tensor in tensors]
        operand_count = len(rule.operands)
        _PROPAGATE[self.kind.strategy](
            StepInput(
                rule.factor_sizes,
                self._directions(rule),
                tensors[:operand_count],
                tensors[operand_count:],
                mesh,
                self.kind.is_elementwise,
                self.kind.is_conservative,
                trace,
            )
        )
        updates = []
        for index, mapping in enumerate(rule.tensors):
            if tensors[index].factors != before[index].factors:
                new = unproject(tensors[index], mapping, rule.factor_sizes, mesh_or_ref, mesh)
                old = shardings[index]
                if new is not old and (old is not None or any(new.axis_refs)):
                    updates.append((index, new))
        return StepResult(mesh, before, tensors, tuple(updates))


def _with_overflow(
    refusal: Refusal, rule: OpShardingRule, shardings: Shardings, before: Sequence[TensorProjection]
) -> Refusal:
    """Makes OVERFLOW the reason if the factor is closed only because it follows overflow axes."""
    if refusal.reason is not Reason.CLOSED or refusal.culprit is None:
        return refusal
    sharding, mapping = shardings[refusal.culprit], list(rule.tensors)[refusal.culprit]
    factors = before[refusal.culprit].factors
    for number, dim in enumerate(mapping.dims):
        if refusal.factor in dim.factors and sharding is not None and not sharding.dims[number].is_closed:
            overflow = [
                axis for each in dim.factors if each in factors for axis in factors[each].overflow_axes
            ]
            return refusal._replace(reason=Reason.OVERFLOW, conflicting=tuple(overflow))
    return refusal


def is_at_fixed_point(rule: OpShardingRule, shardings: Shardings) -> bool:
    """Whether each factor certainly has the same axes in all tensors, so that a step updates nothing."""
    axes_of_factors: dict[int, Axes] = {}
    for sharding, mapping in zip(shardings, rule.tensors, strict=True):
        factors = single_factors(mapping)
        if factors is None:
            return all(each is None for each in shardings)
        if sharding is None:
            for factor in factors:
                if axes_of_factors.setdefault(factor, ()):
                    return False
        else:
            for factor, dim in zip(factors, sharding.dims, strict=False):
                if axes_of_factors.setdefault(factor, dim.axes) != dim.axes:
                    return False
    return True


def _have_ranks_of(rule: OpShardingRule, shardings: Shardings) -> bool:
    """Whether no sharding has another rank than its tensor in the rule.

    Ranks differ only in a sharding group of tensors of different ranks, which the verifier reports.
    """
    return not any(
        sharding is not None and sharding.rank != mapping.rank
        for sharding, mapping in zip(shardings, rule.tensors, strict=True)
    )


def identity_rule(shape: tuple[int, ...], operand_count: int, result_count: int = 1) -> OpShardingRule:
    """The rule in which dimension n of every operand and result is factor n."""
    mapping = TensorMapping(tuple([DimMapping((dim,)) for dim in range(len(shape))]))
    return OpShardingRule(shape, (mapping,) * operand_count, (mapping,) * result_count)


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
