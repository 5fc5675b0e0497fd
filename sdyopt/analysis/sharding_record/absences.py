"""Absences: the reasons for which a value does not have an axis that a neighbor has.

A neighbor is another operand or result of an operation that the value is an operand or result of. For each
axis of a neighbor that the value lacks there is an absence, with the refusals of the step along the operation
at the fixed point; see `Refusal`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import dropwhile, takewhile

from sdyopt.analysis.sharding_record.arrivals import Arrival, arrivals
from sdyopt.analysis.sharding_record.model import Gap, PropagationRun, Site, Step
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.dataclasses import NamedTuple, dataclass, replace
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.sharding.axis_lists import Axes, overlap
from sdyopt.shardy.sharding.propagation.propagation_step import StepRefusals, StepResult, Strategy
from sdyopt.shardy.sharding.propagation.step_input import Reason, Refusal
from sdyopt.shardy.sharding.sharding_projection import project_tensor


class Obstacle(Enum):
    """A reason that is not the refusal of a step."""

    NO_RULE = "the operation has no sharding rule"
    NO_PROPAGATION = "nothing propagates along this operation"
    NO_DIMENSION = "no dimension corresponds to the one that is sharded along the axis"
    MANUAL_AXIS = "the axis is a manual axis of the computation that the value is an input of"


@dataclass(frozen=True)
class Absence:
    """An axis that `subject` lacks and `neighbor` has.

    `position` and `neighbor_position` are those among the operands and results of the site, `dim` and
    `neighbor_dim` the dimensions that correspond; `dim` is -1 if none does. `refusals` are the reasons; if
    it is empty, `obstacle` is the reason.
    """

    subject: Subject
    neighbor: Subject
    axis: AxisRef
    site: Site | Gap
    position: int
    neighbor_position: int
    dim: int
    neighbor_dim: int
    factor: int = -1
    refusals: Sequence[Refusal] = ()
    obstacle: Obstacle | None = None

    @property
    def has_reason(self) -> bool:
        """Whether there is a reason. There always should be one."""
        return bool(self.refusals) or self.obstacle is not None

    def of_axis(
        self, sharding: TensorSharding, refusals: StepRefusals, own_axes: Sequence[AxisRef], mesh: Mesh
    ) -> Iterator[Absence]:
        assert isinstance(self.site, Site)
        rule, tensors, result = self.site.rule, self.site.tensors, refusals.result
        neighbor_mapping = tensors[self.neighbor_position]
        factors = neighbor_mapping.dims[self.neighbor_dim].factors
        dim_of = {
            factor: dim
            for dim, mapping in enumerate(tensors[self.position].dims)
            for factor in mapping.factors
        }
        neighbor_factors = project_tensor(neighbor_mapping, sharding, rule.factor_sizes, mesh).factors
        remaining: Axes = (self.axis,)
        for factor in factors:
            projected = neighbor_factors.get(factor)
            if projected is None:
                continue
            axes = [axis for axis in projected.axes if axis.overlaps(self.axis)]
            remaining = difference(remaining, axes, mesh)
            if factor not in dim_of:
                for part in difference(axes, own_axes, mesh):
                    yield replace(self, axis=part, factor=factor, obstacle=Obstacle.NO_DIMENSION)
                continue
            # The dimension may have it for another of its factors, or beyond the size of all.
            own = self.site.shardings[self.position]
            has = own_axes if result is None or own is None else own.dims[dim_of[factor]].axes
            has_major_factor = tensors[self.position].dims[dim_of[factor]].factors[0] != factor
            for part in difference(axes, has, mesh):
                reasons = (
                    refusals.refusals[:1]
                    if result is None
                    else _reasons(refusals, result, self, factor, part, has_major_factor)
                )
                yield replace(self, axis=part, factor=factor, dim=dim_of[factor], refusals=reasons)
        for part in difference(remaining, own_axes, mesh):
            # Overflow axes shard no factor: the first factor that they would shard does not take them.
            beyond = dropwhile(lambda factor: not neighbor_factors[factor].overflow_axes, factors)
            shared = [factor for factor in beyond if factor in dim_of]
            if not shared:
                yield replace(self, axis=part, factor=factors[-1], obstacle=Obstacle.NO_DIMENSION)
                continue
            factor = shared[0]
            overflow = Refusal(Reason.OVERFLOW, factor, (part,), self.position, self.neighbor_position)
            reasons = refusals.refusals[:1] if result is None else (overflow,)
            yield replace(self, axis=part, factor=factor, dim=dim_of[factor], refusals=reasons)


def absences(run: PropagationRun, subject: Subject) -> Iterator[Absence]:
    """The axes that a subject lacks, by operation in program order, those without a sharding rule last."""
    for site in run.sites_of.get(subject, ()):
        refusals = site.refusals
        for position, value in enumerate(site.subjects):
            if value != subject:
                continue
            for neighbor_position, neighbor in enumerate(site.subjects):
                if neighbor is not None and neighbor != subject:
                    yield from _at(run, site, refusals, position, neighbor_position)
    for gap in run.gaps_of.get(subject, ()):
        yield from _at_gap(run, gap, subject)


def _at_gap(run: PropagationRun, gap: Gap, subject: Subject) -> Iterator[Absence]:
    own = run.final[subject]
    own_axes = [] if own is None else [axis for dim in own.dims for axis in dim.axes]
    position = gap.subjects.index(subject)
    has_dims = isinstance(subject, FunctionResult) or rank_of(subject.type) > 0
    for neighbor_position, neighbor in enumerate(gap.subjects):
        sharding = None if neighbor is None else run.final[neighbor]
        mesh = None if sharding is None else run.mesh_of(sharding.mesh_or_ref)
        if neighbor is None or neighbor == subject or sharding is None or mesh is None:
            continue
        for dim, dim_sharding in enumerate(sharding.dims):
            for axis in difference(dim_sharding.axes, own_axes, mesh):
                yield Absence(
                    *(subject, neighbor, axis, gap, position, neighbor_position, -1, dim),
                    obstacle=Obstacle.NO_RULE if has_dims else Obstacle.NO_DIMENSION,
                )


def _at(
    run: PropagationRun, site: Site, refusals: StepRefusals | None, position: int, neighbor_position: int
) -> Iterator[Absence]:
    subject, neighbor = site.subjects[position], site.subjects[neighbor_position]
    assert subject is not None and neighbor is not None
    sharding, own = site.shardings[neighbor_position], site.shardings[position]
    mesh = None if sharding is None else run.mesh_of(sharding.mesh_or_ref)
    if sharding is None or mesh is None:
        return
    own_axes = [] if own is None else [axis for dim in own.dims for axis in dim.axes]
    for neighbor_dim, dim_sharding in enumerate(sharding.dims):
        for axis in dim_sharding.axes:
            base = Absence(subject, neighbor, axis, site, position, neighbor_position, -1, neighbor_dim)
            if position == len(site.subjects) - 1 and axis.name in site.manual_axes:
                for part in difference((axis,), own_axes, mesh):
                    yield replace(base, axis=part, dim=neighbor_dim, obstacle=Obstacle.MANUAL_AXIS)
            elif refusals is None:
                for part in difference((axis,), own_axes, mesh):
                    yield replace(base, axis=part, obstacle=Obstacle.NO_PROPAGATION)
            elif sharding.rank != site.tensors[neighbor_position].rank:
                for part in difference((axis,), own_axes, mesh):
                    yield replace(base, axis=part, refusals=refusals.refusals[:1])
            else:
                yield from base.of_axis(sharding, refusals, own_axes, mesh)


def _reasons(
    refusals: StepRefusals,
    result: StepResult,
    base: Absence,
    factor: int,
    part: AxisRef,
    has_major_factor: bool,
) -> Sequence[Refusal]:
    """The reasons why the step does not give a part of an axis to a factor.

    `has_major_factor`: whether the dimension has a factor that is more major.
    """
    of_part = [
        refusal
        for refusal in refusals.refusals
        if refusal.factor == factor
        and refusal.target in (None, base.position)
        and overlap(refusal.axes, (part,))
    ]
    axes = result.before[base.neighbor_position].factors[factor].axes
    of_neighbor = [refusal for refusal in of_part if _is_of(refusal, axes, part, base.neighbor_position)]
    if of_part:
        return of_neighbor or of_part
    after = result.after[base.position].factors.get(factor)
    if after is not None and overlap(after.axes, (part,)):
        # The step gives the axis to the factor. Either the axes of the dimension end at a more major factor,
        # or the sharding was changed after the last step.
        reason = Reason.MAJOR_FACTOR if has_major_factor else Reason.NOT_RECORDED
        return [Refusal(reason, factor, (part,), base.position, base.position)]
    if after is None:
        overflow = [
            axis for factor in result.before[base.position].factors.values() for axis in factor.overflow_axes
        ]
        return [Refusal(Reason.OVERFLOW, factor, (part,), base.position, base.position, tuple(overflow))]
    return ()


def _is_of(refusal: Refusal, axes: Axes, part: AxisRef, neighbor_position: int) -> bool:
    """Whether a refusal is of the axes of the neighbor, not of those of another tensor with the same axis."""
    if refusal.reason is Reason.OTHER_AXES and refusal.culprit == neighbor_position:
        return False
    before = takewhile(lambda axis: not axis.overlaps(part), refusal.axes)
    return all(overlap((axis,), axes) for axis in before)


class AbsenceRule(Enum):
    """The reason for which the axis went to the dimension that has it."""

    ANNOTATION = "the tensor is annotated with it"
    USER_PRIORITY = "it has a higher user priority"
    OP_PRIORITY = "it propagated along operations of a higher op priority"
    STRATEGY = "the basic strategy comes before the aggressive one"
    MORE_ELEMENTS = "it came from a larger tensor"
    SHARDED_SIZE = "its dimension has the larger sharded size"
    EARLIER_TENSOR = "it came from an earlier operand"
    LOWER_FACTOR = "its dimension comes first in the sharding rule"
    ORDER = "it propagated first"


class Precedence(NamedTuple):
    """The rule that decided, how the axis came to the tensor, and how the refused one to its neighbor."""

    rule: AbsenceRule
    winner: Arrival
    loser: Arrival


# The last round by op priority; operations propagate along all factors in both directions only in it.
_LAST_ROUND = 5

# The rule that decided, by the first field of `Preference` in which two factors differ.
_RULES = (
    AbsenceRule.MORE_ELEMENTS,
    AbsenceRule.SHARDED_SIZE,
    AbsenceRule.EARLIER_TENSOR,
    AbsenceRule.LOWER_FACTOR,
)


def precedence(
    record: ShardingRecord, run: PropagationRun, absence: Absence, refusal: Refusal
) -> Precedence | None:
    """The reason for the conflicting axes of a refusal's culprit; None without such axes or a culprit."""
    culprit = None if refusal.culprit is None else absence.site.subjects[refusal.culprit]
    overlapping = [axis for axis in refusal.conflicting if axis.overlaps(absence.axis)]
    if culprit is None or not (overlapping or refusal.conflicting):
        return None
    winners = arrivals(record, run, culprit, (overlapping or list(refusal.conflicting))[0])
    losers = arrivals(record, run, absence.neighbor, absence.axis)
    if not winners or not losers:
        return None
    winner, loser = winners[0], losers[0]
    return Precedence(_rule(absence, winner, loser), winner, loser)


def _rule(absence: Absence, winner: Arrival, loser: Arrival) -> AbsenceRule:
    if winner.step is None:
        return AbsenceRule.ANNOTATION
    if user_priority(loser) > winner.step.priority:
        return AbsenceRule.USER_PRIORITY
    if loser.number > winner.number and loser.step is not None:
        if loser.step.round > winner.step.round:
            return AbsenceRule.OP_PRIORITY
        if loser.step.strategy is not winner.step.strategy:
            return AbsenceRule.STRATEGY
        return AbsenceRule.ORDER
    # Both could have propagated when the winner did.
    if winner.step.site is absence.site and winner.step.strategy is Strategy.AGGRESSIVE:
        return _preference_rule(winner.step, winner.factor, absence.factor)
    return AbsenceRule.OP_PRIORITY if _propagates_later(absence.site, winner.step) else AbsenceRule.ORDER


def user_priority(arrival: Arrival) -> int:
    """The user priority with which an axis came."""
    if arrival.step is not None:
        return arrival.step.priority
    return 0 if arrival.annotation is None else arrival.annotation.priority


def _preference_rule(step: Step, winner: int, loser: int) -> AbsenceRule:
    preferences = step.refusals.preference
    if max(winner, loser) < len(preferences):
        for rule, first, second in zip(_RULES, preferences[winner], preferences[loser], strict=True):
            if first != second:
                return rule
    return AbsenceRule.ORDER


def _propagates_later(site: object, step: Step) -> bool:
    """Whether a site propagates in a later round by op priority than a step."""
    return isinstance(site, Site) and site is not step.site and 0 < step.round < _LAST_ROUND
