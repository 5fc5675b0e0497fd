"""One propagation step: from the shardings of an operation's operands and results to updated ones.

A step is a pure function of its kind, the sharding rule, the shardings and their mesh. A program has many
operations and few distinct steps, so the updates of each step are computed once and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cache, partial

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup, common_mesh_or_ref
from sdyopt.mlir.dialects.sdy.ops import PropagationDirection
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.shardy.sharding.axis_lists import Axes, is_prefix
from sdyopt.shardy.sharding.propagation.basic_factor_propagation import (
    propagate_aggressive,
    propagate_basic,
    refuse_for_further_reasons,
)
from sdyopt.shardy.sharding.propagation.step_input import (
    BACKWARD,
    BOTH,
    FORWARD,
    NONE,
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
        self._updates: dict[OpShardingRule, dict[Shardings, Updates]] = {}

    def updates(self, rule: OpShardingRule, shardings: Shardings) -> Updates:
        """The operands and results whose sharding changes, with their new shardings."""
        if not any(shardings):
            return ()
        known = self.known(rule)
        updates = known.get(shardings)
        if updates is None:
            updates = self.plain_updates(rule, shardings)
            if updates is None:
                result = self.run(rule, shardings)
                updates = () if result is None else result.updates
            elif updates:
                # The same step with the updated shardings updates nothing more.
                after = list(shardings)
                for index, sharding in updates:
                    after[index] = sharding
                known[tuple(after)] = ()
            known[shardings] = updates
        return updates

    def known(self, rule: OpShardingRule) -> dict[Shardings, Updates]:
        """The updates of the steps with a rule that have run, by shardings."""
        known = self._updates.get(rule)
        if known is None:
            known = self._updates[rule] = {}
        return known

    def plain_updates(self, rule: OpShardingRule, shardings: Shardings) -> Updates | None:
        """The updates of most steps, in a fraction of the time of `run`; None for others."""
        if self.kind.is_conservative:
            return None
        step = _PlainStep.of(rule, shardings, self._directions(rule))
        updates = None if step is None else step.updates(shardings, len(rule.operands), self.kind)
        if updates:
            mesh = self.mesh_of(updates[0][1].mesh_or_ref)
            if mesh is None or mesh.is_maximal:
                return None
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
                axis for factor in dim.factors if factor in factors for axis in factors[factor].overflow_axes
            ]
            return refusal._replace(reason=Reason.OVERFLOW, conflicting=tuple(overflow))
    return refusal


class _PlainStep(NamedTuple):
    """A step in which every dimension is one factor, and no tensor is replicated or unreduced along axes.

    Tensors that shard the same factor shard it along the same axes, or along axes of other names, which do
    not propagate. `factors` has the factors of the dimensions of each tensor, `axes` those of the factors
    that propagate.
    """

    mesh_or_ref: MeshOrRef | None
    factors: list[tuple[int, ...]]
    axes: dict[int, Axes]

    @classmethod
    def of(
        cls, rule: OpShardingRule, shardings: Shardings, directions: Sequence[PropagationDirection]
    ) -> _PlainStep | None:
        """The step; None if it is another one."""
        mesh_or_ref: MeshOrRef | None = None
        factors_of: list[tuple[int, ...]] = []
        axes_of: dict[int, Axes] = {}
        incompatible: set[int] = set()
        in_operands: set[int] = set()
        in_results: set[int] = set()
        for sharding, mapping in zip(shardings, rule.tensors, strict=True):
            factors = single_factors(mapping)
            if factors is None:
                return None
            factors_of.append(factors)
            if sharding is None:
                continue
            if mesh_or_ref is None:
                mesh_or_ref = sharding.mesh_or_ref
            if sharding.mesh_or_ref is not mesh_or_ref or len(sharding.dims) != len(factors):
                return None
            if sharding.replicated_axes or sharding.unreduced_axes:
                return None
            if sharding.is_fully_replicated:
                continue
            sharded = in_operands if len(factors_of) <= len(rule.operands) else in_results
            for factor, dim in zip(factors, sharding.dims, strict=True):
                axes = dim.axes
                if axes:
                    sharded.add(factor)
                    others = axes_of.setdefault(factor, axes)
                    if others != axes:
                        if others[0].name == axes[0].name:
                            return None
                        incompatible.add(factor)
        sources = {NONE: (), FORWARD: in_operands, BACKWARD: in_results, BOTH: axes_of}
        propagating = {
            factor: axes
            for factor, axes in axes_of.items()
            if factor not in incompatible and factor in sources[directions[factor]]
        }
        return cls(mesh_or_ref, factors_of, propagating)

    def updates(self, shardings: Shardings, operand_count: int, kind: StepKind) -> Updates | None:
        """The updates; None if factors compete for axes."""
        if self.mesh_or_ref is None or not self.axes:
            return ()
        axes_of = self.axes
        refused: set[int] = set()
        updates = []
        for index in range(len(shardings) - 1, -1, -1):
            if kind.is_elementwise and refused and index == operand_count - 1:
                # Operands take only axes that all results have.
                axes_of = {factor: axes for factor, axes in axes_of.items() if factor not in refused}
            sharding, factors = shardings[index], self.factors[index]
            dims = (_OPEN,) * len(factors) if sharding is None else sharding.dims
            missing = [
                number for number, factor in enumerate(factors) if not dims[number].axes and factor in axes_of
            ]
            if not missing:
                continue
            if kind.strategy is Strategy.BASIC:
                return None
            used: dict[str, AxisRef | None] = {axis.name: axis for dim in dims for axis in dim.axes}
            # As in `unproject`, without priorities.
            new = [
                dim if dim.priority is None else DimensionSharding(dim.axes, dim.is_closed, None)
                for dim in dims
            ]
            is_extended = False
            for number in missing:
                axes = axes_of[factors[number]]
                if dims[number].is_closed or used.get(axes[0].name) is axes[0]:
                    refused.add(factors[number])
                    continue
                for axis in axes:
                    if axis.name in used:
                        return None
                used.update([(axis.name, None) for axis in axes])
                new[number] = DimensionSharding(axes, False, None)
                is_extended = True
            if is_extended:
                updates.append(
                    (index, TensorSharding(self.mesh_or_ref, tuple(new), (), (), ReductionKind.SUM))
                )
        return tuple(reversed(updates))


_OPEN = DimensionSharding((), False)


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
