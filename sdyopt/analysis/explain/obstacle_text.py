"""Sentences on why an axis did not come to a value, for reasons that no propagation step decides."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.analysis.explain.names import axis_text
from sdyopt.analysis.sharding_record.absences import Absence, Obstacle
from sdyopt.analysis.sharding_record.model import Site


def obstacle_reason(absence: Absence) -> str:
    """Why no step gives the axis to the value."""
    assert absence.obstacle is not None
    return _OBSTACLES[absence.obstacle](absence)


def _no_rule(absence: Absence) -> str:
    return "it has no sharding rule, so nothing propagates along it"


def _no_propagation(absence: Absence) -> str:
    if absence.site.op_name == "sdy.propagation_barrier":
        return "the barrier lets no sharding through"
    return "nothing propagates along it"


def _no_dimension(absence: Absence) -> str:
    if isinstance(absence.site, Site) and absence.factor in absence.site.rule.reduction:
        return "it reduces over that dimension, so this value does not have it"
    return "no dimension of this value corresponds to that one"


def _manual_axis(absence: Absence) -> str:
    axis = axis_text(absence.axis)
    return f"{axis} is a manual axis of the computation, so only in_shardings shard its inputs along it"


_OBSTACLES: dict[Obstacle, Callable[[Absence], str]] = {
    Obstacle.NO_RULE: _no_rule,
    Obstacle.NO_PROPAGATION: _no_propagation,
    Obstacle.NO_DIMENSION: _no_dimension,
    Obstacle.MANUAL_AXIS: _manual_axis,
}
