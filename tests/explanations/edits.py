"""Edits that undo the reasons of an absence, one table entry per reason."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.analysis.sharding_record.absences import Absence, Obstacle, absences
from sdyopt.shardy.sharding.propagation.step_input import Reason
from tests.explanations.annotations import annotate, with_dim
from tests.explanations.competitor_edits import not_replicated, not_unreduced, opened, without_competitor
from tests.explanations.programs import Edit, Recorded
from tests.explanations.rule_edits import (
    in_all_directions,
    unblocked,
    with_barrier_open,
    with_rule_of_neighbor,
    without_manual_axis,
)
from tests.explanations.size_edits import (
    along_dividing_axis,
    on_one_mesh,
    with_major_factor_sharded,
    without_overflow,
)
from tests.explanations.undoing import Target, Undoing, only_in_dim


def edits_of(program: Recorded, absence: Absence, target: Target) -> list[Edit]:
    """Undoes all reasons of an absence; no edits if that is not possible."""
    if absence.obstacle is not None:
        return _OBSTACLE_EDITS[absence.obstacle](program, absence)
    edits: list[Edit] = []
    for refusal in absence.refusals:
        edits += _EDITS[refusal.reason](Undoing(program, absence, refusal, target))
    return edits


def pin(program: Recorded, absence: Absence) -> list[Edit]:
    """Annotates the neighbor with the axis that it has."""
    sharding = program.run.final[absence.neighbor]
    assert sharding is not None
    new = sharding.dims[absence.neighbor_dim]
    return annotate(
        program,
        absence.neighbor,
        sharding.mesh_or_ref,
        lambda old: only_in_dim(with_dim(old, absence.neighbor_dim, new), new.axes, absence.neighbor_dim),
    )


def _of_results(undoing: Undoing) -> list[Edit]:
    """Undoes the reason why a result of an elementwise operation lacks the axis."""
    absence, program = undoing.absence, undoing.program
    if undoing.subject is None:
        return []
    found = [
        each
        for each in absences(program.run, undoing.subject)
        if each.site is absence.site
        and each.neighbor == absence.neighbor
        and each.axis.overlaps(absence.axis)
    ]
    return [edit for each in found for edit in edits_of(program, each, undoing.target)]


def _none(undoing: Undoing) -> list[Edit]:
    return []


_EDITS: dict[Reason, Callable[[Undoing], list[Edit]]] = {
    Reason.MESHES: on_one_mesh,
    Reason.MAXIMAL_MESH: _none,
    Reason.RANK: _none,
    Reason.BLOCKED: unblocked,
    Reason.DIRECTION: in_all_directions,
    Reason.OTHER_AXES: without_competitor,
    Reason.CLOSED: opened,
    Reason.REPLICATED: not_replicated,
    Reason.UNREDUCED: not_unreduced,
    Reason.OTHER_FACTOR: without_competitor,
    Reason.NOT_DIVISIBLE: along_dividing_axis,
    Reason.OVERFLOW: without_overflow,
    Reason.RESULTS: _of_results,
    Reason.CONSERVATIVE: _none,
    Reason.MAJOR_FACTOR: with_major_factor_sharded,
}


_OBSTACLE_EDITS: dict[Obstacle, Callable[[Recorded, Absence], list[Edit]]] = {
    Obstacle.NO_RULE: with_rule_of_neighbor,
    Obstacle.NO_PROPAGATION: with_barrier_open,
    Obstacle.NO_DIMENSION: lambda program, absence: [],
    Obstacle.MANUAL_AXIS: without_manual_axis,
}
