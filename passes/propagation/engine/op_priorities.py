"""The operations that propagate in a round, and their directions.

The first rounds propagate along operations that need no communication. Their shardings take precedence over
those of later rounds.
"""

from __future__ import annotations

from enum import Enum, auto

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.shardy.sharding.propagation.step_input import DirectionPolicy


class OpCategory(Enum):
    """The category of an operation, which determines in which rounds and directions it propagates."""

    PASS_THROUGH = auto()
    # dynamic_slice and dynamic_update_slice.
    DYNAMIC_SLICE = auto()
    BROADCAST = auto()
    OTHER = auto()
    # Barriers, by their allowed direction.
    BARRIER_FORWARD = auto()
    BARRIER_BACKWARD = auto()
    BARRIER_NONE = auto()

    # Members are compared by identity; the default hash of enumerations is slow.
    __hash__ = object.__hash__


class Round(NamedTuple):
    """A direction policy for each category of operations; those with None do not propagate.

    Operations of the `single_use_categories` propagate only if no operand but a scalar has another use, which
    could need another sharding. `number` is the position among the rounds by op priority, from 1; 0 if rounds
    are not by op priority.
    """

    policies: dict[OpCategory, DirectionPolicy | None]
    single_use_categories: frozenset[OpCategory] = frozenset()
    number: int = 0


def _round(
    dynamic_slice: DirectionPolicy,
    broadcast: DirectionPolicy | None,
    other: DirectionPolicy | None,
    single_use_categories: frozenset[OpCategory] = frozenset(),
) -> Round:
    policies = {
        OpCategory.PASS_THROUGH: DirectionPolicy.BOTH,
        OpCategory.DYNAMIC_SLICE: dynamic_slice,
        OpCategory.BROADCAST: broadcast,
        OpCategory.OTHER: other,
        OpCategory.BARRIER_FORWARD: DirectionPolicy.FORWARD,
        OpCategory.BARRIER_BACKWARD: DirectionPolicy.BACKWARD,
        OpCategory.BARRIER_NONE: None,
    }
    return Round(policies, single_use_categories)


ALL_OPS = _round(DirectionPolicy.BOTH, DirectionPolicy.BOTH, DirectionPolicy.BOTH)

# The manual of `sdy-op-priority-propagate` describes these rounds.
OP_PRIORITY_ROUNDS = tuple(
    [
        round._replace(number=number)
        for number, round in enumerate(
            (
                _round(
                    *(DirectionPolicy.FORWARD, None, None),
                    single_use_categories=frozenset({OpCategory.PASS_THROUGH, OpCategory.DYNAMIC_SLICE}),
                ),
                _round(DirectionPolicy.FORWARD, None, None),
                _round(
                    DirectionPolicy.PASS_THROUGH_BOTH_ELSE_FORWARD,
                    DirectionPolicy.PASS_THROUGH_BACKWARD,
                    DirectionPolicy.PASS_THROUGH_BOTH,
                ),
                _round(DirectionPolicy.BOTH, DirectionPolicy.BACKWARD, DirectionPolicy.BOTH),
                ALL_OPS,
            ),
            start=1,
        )
    ]
)
