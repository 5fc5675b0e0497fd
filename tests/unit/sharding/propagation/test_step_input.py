"""Directions of factors: a policy has one for pass-through factors, and one for all others."""

import pytest

from sdyopt.mlir.dialects.sdy.ops import PropagationDirection
from sdyopt.shardy.sharding.propagation.step_input import (
    BACKWARD,
    BOTH,
    FORWARD,
    NONE,
    DirectionPolicy,
    factor_directions,
)
from tests.unit.sharding.notation import read_rule

# i is a pass-through factor, the others are not.
RULE = read_rule(
    "([i, j, k, l])->([i, j, k, m]) {i=2, j=2, k=2, l=2, m=2} "
    "reduction={l} need_replication={j, m} permutation={k} blocked_propagation={m}"
)


@pytest.mark.parametrize(
    ("policy", "pass_through", "others"),
    [
        (DirectionPolicy.FORWARD, FORWARD, FORWARD),
        (DirectionPolicy.BACKWARD, BACKWARD, BACKWARD),
        (DirectionPolicy.BOTH, BOTH, BOTH),
        (DirectionPolicy.PASS_THROUGH_BOTH, BOTH, NONE),
        (DirectionPolicy.PASS_THROUGH_BACKWARD, BACKWARD, NONE),
        (DirectionPolicy.PASS_THROUGH_BOTH_ELSE_FORWARD, BOTH, FORWARD),
    ],
)
def test_each_policy_has_a_direction_for_pass_through_and_for_other_factors(
    policy: DirectionPolicy, pass_through: PropagationDirection, others: PropagationDirection
) -> None:
    i, j, k, l, _ = factor_directions(policy, RULE)  # noqa: E741
    assert i is pass_through
    assert j is k is l is others


@pytest.mark.parametrize("policy", DirectionPolicy)
def test_blocked_factors_never_propagate(policy: DirectionPolicy) -> None:
    assert factor_directions(policy, RULE)[4] is NONE


def test_a_blocked_pass_through_factor_does_not_propagate_either() -> None:
    rule = read_rule("([i, j])->([i, j]) {i=2, j=2} blocked_propagation={i}")
    assert factor_directions(DirectionPolicy.BOTH, rule) == (NONE, BOTH)
