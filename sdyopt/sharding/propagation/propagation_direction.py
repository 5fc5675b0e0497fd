"""Which way shardings may go through an operation: forward to results, backward to operands."""

from __future__ import annotations

from enum import Enum

from sdyopt.dialects.sdy.ops import PropagationDirection
from sdyopt.dialects.sdy.rule import OpShardingRule

NONE, FORWARD, BACKWARD, BOTH = PropagationDirection
_PASSING_BOTH = (BOTH, NONE)
_PASSING_BACKWARD = (BACKWARD, NONE)
_PASSING_BOTH_ELSE_FORWARD = (BOTH, FORWARD)


class Policy(Enum):
    """A direction for the factors that pass through an operation, and one for all others."""

    FORWARD = (FORWARD, FORWARD)
    BACKWARD = (BACKWARD, BACKWARD)
    BOTH = (BOTH, BOTH)
    # From here on the names of directions mean the policies above.
    PASSING_BOTH = _PASSING_BOTH
    PASSING_BACKWARD = _PASSING_BACKWARD
    PASSING_BOTH_ELSE_FORWARD = _PASSING_BOTH_ELSE_FORWARD

    # Members are compared by identity; the hash that enumerations have is slow.
    __hash__ = object.__hash__


def directions(policy: Policy, rule: OpShardingRule) -> tuple[PropagationDirection, ...]:
    """The direction of each factor of a rule."""
    passing, others = policy.value
    special = {*rule.reduction, *rule.need_replication, *rule.permutation}
    return tuple(
        [
            NONE if factor in rule.blocked_propagation else others if factor in special else passing
            for factor in range(len(rule.factor_sizes))
        ]
    )
