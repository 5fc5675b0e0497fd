"""Sentences on why an axis did not come to a value, for reasons that no propagation step decides."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.analysis.explain.arrival_text import where_annotated
from sdyopt.analysis.explain.names import Names, axis_text
from sdyopt.analysis.sharding_record.absences import Absence, Obstacle
from sdyopt.analysis.sharding_record.annotations import annotation_on
from sdyopt.analysis.sharding_record.model import Run, Site
from sdyopt.analysis.sharding_record.record import ShardingRecord

# (reason, help)
Answer = tuple[str, str]


def obstacle_answer(absence: Absence, record: ShardingRecord, run: Run, names: Names) -> Answer:
    """Why no step gives the axis to the value, and what to write to change it."""
    assert absence.obstacle is not None
    return _OBSTACLES[absence.obstacle](absence, record, run, names)


def _no_rule(absence: Absence, record: ShardingRecord, run: Run, names: Names) -> Answer:
    return (
        "it has no sharding rule, so nothing propagates along it",
        "add an sdy.sharding_rule attribute to it, or constrain the value",
    )


def _no_propagation(absence: Absence, record: ShardingRecord, run: Run, names: Names) -> Answer:
    if absence.site.op_name == "sdy.propagation_barrier":
        return (
            "the barrier lets no sharding through",
            "write allowed_direction=FORWARD or BACKWARD, or remove the barrier",
        )
    return "nothing propagates along it", ""


def _no_dimension(absence: Absence, record: ShardingRecord, run: Run, names: Names) -> Answer:
    if isinstance(absence.site, Site) and absence.factor in absence.site.rule.reduction:
        return "it reduces over that dimension, so this value does not have it", ""
    return "no dimension of this value corresponds to that one", ""


def _manual_axis(absence: Absence, record: ShardingRecord, run: Run, names: Names) -> Answer:
    annotation = annotation_on(record, run, absence.subject, is_manual_axis=True)
    axis = axis_text(absence.axis)
    return (
        f"{axis} is a manual axis of the computation, so only in_shardings shard its inputs along it",
        f"shard dimension {absence.dim} along {axis} {where_annotated(annotation, names)}",
    )


_OBSTACLES: dict[Obstacle, Callable[[Absence, ShardingRecord, Run, Names], Answer]] = {
    Obstacle.NO_RULE: _no_rule,
    Obstacle.NO_PROPAGATION: _no_propagation,
    Obstacle.NO_DIMENSION: _no_dimension,
    Obstacle.MANUAL_AXIS: _manual_axis,
}
