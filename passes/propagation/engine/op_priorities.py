"""Which operations take part in a round of propagation, and which way shardings go over them.

The first rounds of the schedule let shardings go only where little can go wrong; what they spread
stands in the way of what later rounds would spread.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from sdyopt.sharding.propagation.propagation_direction import Policy


class Flow(IntEnum):
    """How data goes through an operation."""

    PASS_THROUGH = 0
    SLICE = 1
    BROADCAST = 2
    OTHER = 3
    BARRIER_FORWARD = 4
    BARRIER_BACKWARD = 5
    BARRIER_NONE = 6


class Round(NamedTuple):
    """A policy for each flow; operations with none are left alone.

    With `only_single_uses` what passes through and slices is left alone if an operand has other uses:
    they might want it sharded in other ways.
    """

    policies: tuple[Policy | None, ...]
    only_single_uses: bool = False


def _round(
    pass_through: Policy,
    slices: Policy,
    broadcast: Policy | None,
    other: Policy | None,
    only_single_uses: bool = False,
) -> Round:
    barriers = (Policy.FORWARD, Policy.BACKWARD, None)
    return Round((pass_through, slices, broadcast, other, *barriers), only_single_uses)


EVERYTHING = _round(Policy.BOTH, Policy.BOTH, Policy.BOTH, Policy.BOTH)

# What passes through first, then all factors that do, then all factors, broadcasts last.
SCHEDULE = (
    _round(Policy.BOTH, Policy.FORWARD, None, None, only_single_uses=True),
    _round(Policy.BOTH, Policy.FORWARD, None, None),
    _round(Policy.BOTH, Policy.PASSING_BOTH_ELSE_FORWARD, Policy.PASSING_BACKWARD, Policy.PASSING_BOTH),
    _round(Policy.BOTH, Policy.BOTH, Policy.BACKWARD, Policy.BOTH),
    EVERYTHING,
)
