"""The direction in which each factor propagates: forward to results, backward to operands, both or none."""

from __future__ import annotations

from enum import Enum

from sdyopt.dialects.sdy.ops import PropagationDirection
from sdyopt.dialects.sdy.rule import OpShardingRule

NONE, FORWARD, BACKWARD, BOTH = PropagationDirection
_PASS_THROUGH_BOTH = (BOTH, NONE)
_PASS_THROUGH_BACKWARD = (BACKWARD, NONE)
_PASS_THROUGH_BOTH_ELSE_FORWARD = (BOTH, FORWARD)


class DirectionPolicy(Enum):
    """A direction for the pass-through factors of an operation, and one for all other factors."""

    FORWARD = (FORWARD, FORWARD)
    BACKWARD = (BACKWARD, BACKWARD)
    BOTH = (BOTH, BOTH)
    # In this class, FORWARD, BACKWARD and BOTH now name the members above; hence the module constants.
    PASS_THROUGH_BOTH = _PASS_THROUGH_BOTH
    PASS_THROUGH_BACKWARD = _PASS_THROUGH_BACKWARD
    PASS_THROUGH_BOTH_ELSE_FORWARD = _PASS_THROUGH_BOTH_ELSE_FORWARD

    # Members are compared by identity; the default hash of enumerations is slow.
    __hash__ = object.__hash__


def factor_directions(policy: DirectionPolicy, rule: OpShardingRule) -> tuple[PropagationDirection, ...]:
    """The direction of each factor of a rule. It is NONE for factors with blocked propagation."""
    pass_through, others = policy.value
    special = {*rule.reduction, *rule.need_replication, *rule.permutation}
    return tuple(
        [
            NONE if factor in rule.blocked_propagation else others if factor in special else pass_through
            for factor in range(len(rule.factor_sizes))
        ]
    )
