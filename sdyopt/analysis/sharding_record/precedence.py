"""Why an axis shards one dimension of a tensor and not another one: which came first, and by which rule."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from sdyopt.analysis.sharding_record.absences import Absence
from sdyopt.analysis.sharding_record.arrivals import Arrival, arrivals
from sdyopt.analysis.sharding_record.model import Run, Site, Step
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.shardy.sharding.propagation.propagation_step import Strategy
from sdyopt.shardy.sharding.propagation.step_input import Refusal


class Rule(Enum):
    """Why the axis went to the dimension that has it."""

    ANNOTATION = "the tensor is annotated with it"
    USER_PRIORITY = "it has a higher user priority"
    OP_PRIORITY = "it came along operations of a higher op priority"
    STRATEGY = "the basic strategy comes before the aggressive one"
    MORE_ELEMENTS = "it came from a larger tensor"
    SHARDED_SIZE = "its dimension has the larger sharded size"
    EARLIER_TENSOR = "it came from an earlier operand"
    LOWER_FACTOR = "its dimension comes first in the sharding rule"
    ORDER = "it came first"


class Precedence(NamedTuple):
    """The rule that decided, how the axis came to the tensor, and how the refused one to its neighbor."""

    rule: Rule
    winner: Arrival
    loser: Arrival


# The last round by op priority; operations propagate along all factors in both directions only in it.
_LAST_ROUND = 5

# The rule that decided, by the first field of `Preference` in which two factors differ.
_RULES = (Rule.MORE_ELEMENTS, Rule.SHARDED_SIZE, Rule.EARLIER_TENSOR, Rule.LOWER_FACTOR)


def precedence(record: ShardingRecord, run: Run, absence: Absence, refusal: Refusal) -> Precedence | None:
    """Why the conflicting axes of a refusal shard its culprit; None without such axes or a culprit."""
    culprit = None if refusal.culprit is None else absence.site.subjects[refusal.culprit]
    overlapping = [axis for axis in refusal.conflicting if axis.overlaps(absence.axis)]
    if culprit is None or not (overlapping or refusal.conflicting):
        return None
    winners = arrivals(record, run, culprit, (overlapping or list(refusal.conflicting))[0])
    losers = arrivals(record, run, absence.neighbor, absence.axis)
    if not winners or not losers:
        return None
    winner, loser = winners[0], losers[0]
    return Precedence(_rule(absence, refusal, winner, loser), winner, loser)


def _rule(absence: Absence, refusal: Refusal, winner: Arrival, loser: Arrival) -> Rule:
    if winner.step is None:
        return Rule.ANNOTATION
    if user_priority(loser) > winner.step.priority:
        return Rule.USER_PRIORITY
    if loser.number > winner.number and loser.step is not None:
        if loser.step.round > winner.step.round:
            return Rule.OP_PRIORITY
        if loser.step.strategy is not winner.step.strategy:
            return Rule.STRATEGY
        return Rule.ORDER
    # Both could have propagated when the winner did.
    if winner.step.site is absence.site and winner.step.strategy is Strategy.AGGRESSIVE:
        return _preference_rule(winner.step, winner.factor, absence.factor)
    return Rule.OP_PRIORITY if _propagates_later(absence.site, winner.step) else Rule.ORDER


def user_priority(arrival: Arrival) -> int:
    """The user priority with which an axis came."""
    if arrival.step is not None:
        return arrival.step.priority
    return 0 if arrival.annotation is None else arrival.annotation.priority


def _preference_rule(step: Step, winner: int, loser: int) -> Rule:
    preferences = step.refusals.preference
    if max(winner, loser) < len(preferences):
        for rule, first, second in zip(_RULES, preferences[winner], preferences[loser], strict=True):
            if first != second:
                return rule
    return Rule.ORDER


def _propagates_later(site: object, step: Step) -> bool:
    """Whether a site propagates in a later round by op priority than a step."""
    return isinstance(site, Site) and site is not step.site and 0 < step.round < _LAST_ROUND
