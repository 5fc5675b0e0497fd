"""Undoes the reason why an axis did not propagate, and checks that it then does.

The program with the edits is imported and propagated again. It differs from the original program only in
what the reasons name. Often one annotation gives the neighbor its axis and the competitor, too, and the edit
takes both away. Then the neighbor is annotated with the axis that it has (it is pinned), and if the
competitor still comes from there, it is kept off the tensor for which it competes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sdyopt.analysis.sharding_record.absences import Absence, Obstacle, absences
from sdyopt.analysis.sharding_record.model import Site
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.propagation.step_input import Reason, Refusal
from tests.explanations.edits import edits_of, pin
from tests.explanations.programs import Edit, Recorded, Rejected, edited
from tests.explanations.size_edits import added_axis
from tests.explanations.undoing import Target

# One reason may hide another: each is undone in turn.
_MAX_REASONS = 8


class Outcome(Enum):
    """What happens after the reason is undone."""

    PROPAGATES = "the axis propagates"
    AFTER_MORE = "the axis propagates after further reasons are undone, too"
    NEIGHBOR_LOST_IT = "the neighbor does not have the axis any more"
    NO_EDIT = "no edit undoes the reason"
    REJECTED = "the program with the edit is invalid"
    INVALID_RESULT = "propagation makes an invalid program of the one with the edit"
    STAYS = "the axis does not propagate"


class UndoMethod(Enum):
    """What is edited."""

    ANNOTATION = "the reasons are undone; competing axes are dropped from the annotations they come from"
    PIN_ONLY = "the neighbor is annotated with the axis that it has, so that it comes before the competitor"
    PINNED = "the reasons are undone, and the neighbor is annotated with the axis that it has"
    TENSOR = "likewise, and competing axes are kept off the tensor itself"


class Obstruction(Enum):
    """Why an axis does not propagate in spite of the edits."""

    MANUAL = "a manual computation fixes the mesh and the local shapes of its inputs and outputs"
    SIZE = "no further axis divides the dimension: its size is 1, or other axes shard it fully"
    TYPES = "no sharding rule is possible: sizes without a common divisor, or a type that is no static tensor"
    INVALID_RESULT = "propagation makes an invalid program of the one with the edit"
    NONE = "not explained"


@dataclass(frozen=True)
class Case:
    """An absence in a program, by numbers that are the same in each import of it."""

    program: Recorded
    absence: Absence


@dataclass(frozen=True)
class Undone:
    """The outcome of a case, the method that led to it, and the absence that remains, if one does.

    `message` is the error of a program that is rejected.
    """

    outcome: Outcome
    method: UndoMethod
    remaining: Absence | None = None
    message: str = ""

    @property
    def propagates(self) -> bool:
        """Whether the axis propagates."""
        return self.outcome in (Outcome.PROPAGATES, Outcome.AFTER_MORE)

    @property
    def obstruction(self) -> Obstruction:
        """Why the axis does not propagate."""
        remaining = self.remaining
        site = None if remaining is None else remaining.site
        is_manual_edge = isinstance(site, Site) and isinstance(site.edge_owner, ManualComputationOp)
        if is_manual_edge or "'sdy.manual_computation'" in self.message:
            return Obstruction.MANUAL
        if self.outcome is Outcome.INVALID_RESULT:
            return Obstruction.INVALID_RESULT
        if remaining is not None and remaining.obstacle is Obstacle.NO_RULE:
            return Obstruction.TYPES
        if self.outcome is not Outcome.NO_EDIT or remaining is None:
            return Obstruction.NONE
        is_of_sizes = all(refusal.reason in _OF_SIZES for refusal in remaining.refusals)
        return Obstruction.SIZE if is_of_sizes else Obstruction.NONE


_OF_SIZES = {Reason.NOT_DIVISIBLE, Reason.OVERFLOW, Reason.MAJOR_FACTOR}


def undo(case: Case) -> Undone:
    """Undoes the reasons of an absence, then those that remain, one after the other."""
    first = _undo(case, UndoMethod.ANNOTATION)
    if first.propagates:
        return first
    pinned = _repeat(case, pin(case.program, case.absence))
    if isinstance(pinned, Recorded) and _same_absence(case, pinned, case.absence.axis) is Outcome.PROPAGATES:
        return Undone(Outcome.PROPAGATES, UndoMethod.PIN_ONLY)
    second = _undo(case, UndoMethod.PINNED)
    return second if second.propagates else _undo(case, UndoMethod.TENSOR)


def _repeat(case: Case, edits: list[Edit]) -> Recorded | Rejected:
    return edited(case.program.name, case.program.text, edits)


def _undo(case: Case, method: UndoMethod) -> Undone:
    program, absence, axis = case.program, case.absence, case.absence.axis
    target = Target.TENSOR if method is UndoMethod.TENSOR else Target.ANNOTATION
    pins = [] if method is UndoMethod.ANNOTATION else pin(program, absence)
    edits: list[Edit] = []
    is_first = True
    reasons = _reasons(program, absence)
    for _ in range(_MAX_REASONS):
        new = edits_of(program, absence, target)
        if not new:
            return Undone(Outcome.NO_EDIT, method, absence)
        edits += new
        if (added := added_axis(absence)) is not None:
            axis, pins = added, []
        after = _repeat(case, edits + pins)
        if isinstance(after, Rejected):
            outcome = Outcome.INVALID_RESULT if after.is_result else Outcome.REJECTED
            return Undone(outcome, method, absence, after.message)
        again = _same_absence(case, after, axis)
        if isinstance(again, Outcome):
            is_more = again is Outcome.PROPAGATES and not is_first
            return Undone(Outcome.AFTER_MORE if is_more else again, method)
        program, absence = after, again
        # Axes of a competitor may come from several annotations, and are dropped from all of them.
        is_first &= _reasons(program, absence) <= reasons
    return Undone(Outcome.STAYS, method, absence)


def _reasons(program: Recorded, absence: Absence) -> set[object]:
    """What identifies the reasons of an absence in each import of a program."""
    if absence.obstacle is not None:
        return {absence.obstacle}
    found: set[object] = set()
    for refusal in absence.refusals:
        subject = _culprit(absence, refusal)
        number = None if subject is None else program.number(subject)
        found.add((refusal.reason, number, refusal.factor, refusal.other_factor))
    return found


def _culprit(absence: Absence, refusal: Refusal) -> Subject | None:
    position = absence.position if refusal.culprit is None else refusal.culprit
    return absence.site.subjects[position]


def _same_absence(case: Case, after: Recorded, axis: AxisRef) -> Absence | Outcome:
    """The absence in the program after edits, or what has become of it."""
    before, absence = case.program, case.absence
    number, neighbor = before.number(absence.subject), before.number(absence.neighbor)
    assert number is not None and neighbor is not None
    subject = after.imported.subject(number)
    for each in absences(after.run, subject) if subject in after.run.final else ():
        if (
            after.op_numbers.get(each.site.op) == before.op_numbers.get(absence.site.op)
            and (after.number(each.neighbor), each.neighbor_dim) == (neighbor, absence.neighbor_dim)
            and (each.position, each.neighbor_position) == (absence.position, absence.neighbor_position)
            and absence.factor in (-1, each.factor)
            and each.axis.overlaps(axis)
            and each.obstacle is not Obstacle.NO_DIMENSION
        ):
            return each
    for site in after.run.sites_of.get(subject, ()):
        if (
            after.op_numbers.get(site.op) == before.op_numbers.get(absence.site.op)
            and _number_at(after, site, absence.position) == number
            and _number_at(after, site, absence.neighbor_position) == neighbor
            and _has(after, site, absence.neighbor_position, absence.neighbor_dim, axis)
            and _has(after, site, absence.position, absence.dim, axis)
        ):
            return Outcome.PROPAGATES
    return Outcome.NEIGHBOR_LOST_IT


def _number_at(program: Recorded, site: Site, position: int) -> tuple[int, int] | None:
    subject = site.subjects[position] if position < len(site.subjects) else None
    return None if subject is None else program.number(subject)


def _has(program: Recorded, site: Site, position: int, dim: int, axis: AxisRef) -> bool:
    """Whether a dimension, or any if it is -1, is sharded along all of an axis."""
    sharding = site.shardings[position]
    mesh = None if sharding is None else program.run.mesh_of(sharding.mesh_or_ref)
    if sharding is None or mesh is None:
        return False
    dims = sharding.dims if dim < 0 else sharding.dims[dim : dim + 1]
    return not difference((axis,), [each for dim in dims for each in dim.axes], mesh)
