"""Undoes the reason why an axis did not propagate, and checks that it then does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

from passes.common.support.set_sharding import set_sharding
from sdyopt.dialects.sdy.attribute_names import SHARDING, SHARDING_RULE
from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.dialects.sdy.data_flow_ops import DataFlowEdgeOp
from sdyopt.dialects.sdy.ops import PropagationBarrierOp, PropagationDirection
from sdyopt.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.dialects.sdy.value_shardings import owning_op, sharding_of
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.numeric_attributes import IntegerAttr
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import I32, RankedShapedType
from sdyopt.ir.value import BlockArgument, OpResult
from sdyopt.record.absences import Absence, Obstacle, absences
from sdyopt.record.arrivals import arrivals
from sdyopt.record.model import Site
from sdyopt.record.recorder import FunctionResult, Subject
from sdyopt.sharding.axis_lists import Axes, overlap
from sdyopt.sharding.propagation.refusals import Reason, Refusal
from tests.explanations.programs import Edit, Imported, Recorded, propagated

# One reason may hide another: each is undone in turn.
_MAX_REASONS = 8


class Outcome(Enum):
    """What happens after the reason is undone."""

    PROPAGATES = "the axis propagates"
    AFTER_MORE = "the axis propagates after further reasons are undone, too"
    NEIGHBOR_LOST_IT = "the neighbor does not have the axis any more"
    OTHER_REASON = "the axis does not propagate, for a reason that no annotation undoes"
    STAYS = "the axis does not propagate"


# Reasons that no edit of an annotation undoes: sizes of dimensions and meshes.
FIXED = {Reason.NOT_DIVISIBLE, Reason.OVERFLOW, Reason.MAJOR_FACTOR, Reason.MESHES, Reason.MAXIMAL_MESH}


@dataclass(frozen=True)
class Case:
    """An absence in a program, by numbers that are the same in each import of it."""

    program: Recorded
    absence: Absence

    @property
    def is_undoable(self) -> bool:
        """Whether an edit of annotations can undo the reason."""
        absence = self.absence
        if absence.obstacle is not None:
            return absence.obstacle is not Obstacle.NO_DIMENSION
        return not any(refusal.reason in FIXED for refusal in absence.refusals)


def undo(case: Case) -> Outcome:
    """Undoes the reasons of an absence, then those that remain, one after the other."""
    program, absence = case.program, case.absence
    edits: list[Edit] = []
    is_first = True
    reasons = _reasons(program, absence)
    for _ in range(_MAX_REASONS):
        new = _edits(program, absence)
        after = propagated(program.name, program.text, edits := edits + new) if new else None
        if after is None:
            return Outcome.OTHER_REASON
        again = _same_absence(case, after)
        if isinstance(again, Outcome):
            return again if is_first or again is not Outcome.PROPAGATES else Outcome.AFTER_MORE
        if again.obstacle is None and any(refusal.reason in FIXED for refusal in again.refusals):
            return Outcome.OTHER_REASON
        program, absence = after, again
        # Axes of a competitor may come from several annotations, and are dropped from all of them.
        is_first &= _reasons(program, absence) <= reasons
    return Outcome.STAYS


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


def _same_absence(case: Case, after: Recorded) -> Absence | Outcome:
    """The absence in the program after edits, or what has become of it."""
    before, absence = case.program, case.absence
    number, neighbor = before.number(absence.subject), before.number(absence.neighbor)
    assert number is not None and neighbor is not None
    subject = after.imported.subject(number)
    if subject not in after.run.final:
        return Outcome.NEIGHBOR_LOST_IT
    for each in absences(after.run, subject):
        is_same = (
            after.op_numbers.get(each.site.op) == before.op_numbers.get(absence.site.op)
            and after.number(each.neighbor) == neighbor
            and each.axis.overlaps(absence.axis)
            and each.obstacle is not Obstacle.NO_DIMENSION
        )
        if is_same:
            return each
    sharding = after.run.final[after.imported.subject(neighbor)] if neighbor else None
    has_axis = sharding is not None and overlap(_axes(sharding), (absence.axis,))
    own = after.run.final[subject]
    own_has_axis = own is not None and overlap(_axes(own), (absence.axis,))
    return Outcome.PROPAGATES if has_axis and own_has_axis else Outcome.NEIGHBOR_LOST_IT


def _axes(sharding: TensorSharding) -> Axes:
    return tuple([axis for dim in sharding.dims for axis in dim.axes])


# --- Edits ------------------------------------------------------------------------------------------


def _edits(program: Recorded, absence: Absence) -> list[Edit]:
    if absence.obstacle is not None:
        return _obstacle_edits(program, absence)
    edits: list[Edit] = []
    for refusal in absence.refusals:
        edits += _REASON_EDITS[refusal.reason](program, absence, refusal)
    return edits


def _obstacle_edits(program: Recorded, absence: Absence) -> list[Edit]:
    op_number = program.op_numbers.get(absence.site.op)
    if op_number is None:
        return []
    if absence.obstacle is Obstacle.NO_PROPAGATION:
        return [_with_barrier_open(op_number, absence)]
    op = program.imported.ops[op_number]
    rule = _pointwise_rule([value.type for value in (*op.operands, *op.results)], len(op.operands))
    return [] if rule is None else [_with_rule(op_number, rule)]


def _culprit(absence: Absence, refusal: Refusal) -> Subject | None:
    position = absence.position if refusal.culprit is None else refusal.culprit
    return absence.site.subjects[position]


def _open(program: Recorded, absence: Absence, refusal: Refusal) -> list[Edit]:
    subject = _culprit(absence, refusal)
    assert isinstance(absence.site, Site) and refusal.culprit is not None
    mapping = list(absence.site.rule.tensors)[refusal.culprit]
    dims = [dim for dim, each in enumerate(mapping.dims) if refusal.factor in each.factors]

    def opened(sharding: TensorSharding) -> TensorSharding:
        new = list(sharding.dims)
        for dim in dims:
            new[dim] = DimensionSharding(new[dim].axes, False, new[dim].priority)
        return sharding.with_dims(tuple(new))

    return _change(program, subject, opened)


def _not_replicated(program: Recorded, absence: Absence, refusal: Refusal) -> list[Edit]:
    def changed(sharding: TensorSharding) -> TensorSharding:
        kept = [axis for axis in sharding.replicated_axes if not overlap((axis,), refusal.axes)]
        return sharding.with_replicated_axes(tuple(kept))

    return _change(program, _culprit(absence, refusal), changed)


def _not_unreduced(program: Recorded, absence: Absence, refusal: Refusal) -> list[Edit]:
    def changed(sharding: TensorSharding) -> TensorSharding:
        kept = [axis for axis in sharding.unreduced_axes if not overlap((axis,), refusal.axes)]
        return sharding.with_unreduced_axes(tuple(kept))

    return _change(program, _culprit(absence, refusal), changed)


def _without_competitor(program: Recorded, absence: Absence, refusal: Refusal) -> list[Edit]:
    """Drops the conflicting axes from the annotations that they come from."""
    subject = _culprit(absence, refusal)
    if subject is None:
        return []
    edits: list[Edit] = []
    overlapping = [axis for axis in refusal.conflicting if overlap((axis,), refusal.axes)]
    for axis in overlapping or refusal.conflicting[:1]:
        for arrival in arrivals(program.record, program.run, subject, axis):
            *_, last = arrival.chain()
            edits += _change(program, last.subject, partial(_without, last.dim, last.axis))
    return edits


def _without(dim: int, axis: AxisRef, sharding: TensorSharding) -> TensorSharding:
    dims = list(sharding.dims)
    old = dims[dim]
    kept = []
    for each in old.axes:
        if each.overlaps(axis):
            break
        kept.append(each)
    dims[dim] = DimensionSharding(tuple(kept), old.is_closed, old.priority if kept else None)
    return sharding.with_dims(tuple(dims))


def _of_results(program: Recorded, absence: Absence, refusal: Refusal) -> list[Edit]:
    """Undoes the reason why a result of an elementwise operation lacks the axis."""
    result = _culprit(absence, refusal)
    if result is None:
        return []
    found = [
        each
        for each in absences(program.run, result)
        if each.site is absence.site
        and each.neighbor == absence.neighbor
        and each.axis.overlaps(absence.axis)
    ]
    return [edit for each in found for edit in _edits(program, each)]


def _unblocked(program: Recorded, absence: Absence, refusal: Refusal) -> list[Edit]:
    op_number = program.op_numbers.get(absence.site.op)
    if op_number is None or not isinstance(absence.site, Site):
        return []
    rule = absence.site.rule
    kept = tuple([factor for factor in rule.blocked_propagation if factor != refusal.factor])
    new = OpShardingRule(
        rule.factor_sizes,
        rule.operands,
        rule.results,
        rule.reduction,
        rule.need_replication,
        rule.permutation,
        kept,
        True,
    )
    return [_with_rule(op_number, new)]


def _all_directions(program: Recorded, absence: Absence, refusal: Refusal) -> list[Edit]:
    op_number = program.op_numbers.get(absence.site.op)
    return [] if op_number is None else [_with_barrier_open(op_number, absence)]


def _none(program: Recorded, absence: Absence, refusal: Refusal) -> list[Edit]:
    return []


_REASON_EDITS: dict[Reason, Callable[[Recorded, Absence, Refusal], list[Edit]]] = {
    **dict.fromkeys(Reason, _none),
    Reason.CLOSED: _open,
    Reason.REPLICATED: _not_replicated,
    Reason.UNREDUCED: _not_unreduced,
    Reason.OTHER_FACTOR: _without_competitor,
    Reason.OTHER_AXES: _without_competitor,
    Reason.RESULTS: _of_results,
    Reason.BLOCKED: _unblocked,
    Reason.DIRECTION: _all_directions,
}


def _change(
    program: Recorded, subject: Subject | None, change: Callable[[TensorSharding], TensorSharding]
) -> list[Edit]:
    number = None if subject is None else program.number(subject)
    if number is None:
        return []

    def edit(imported: Imported) -> None:
        found = imported.subject(number)
        if isinstance(found, FunctionResult):
            old: Attribute | None = found.function.result_attributes[found.result_index].get(SHARDING)
            if isinstance(old, TensorSharding):
                Rewriter().set_result_attribute(found.function, found.result_index, SHARDING, change(old))
        elif (sharding := sharding_of(found)) is not None:
            set_sharding(found, change(sharding), Rewriter())
            if isinstance(op := owning_op(found), DataFlowEdgeOp):
                _change_manual(op, change)

    return [edit]


def _change_manual(edge: DataFlowEdgeOp, change: Callable[[TensorSharding], TensorSharding]) -> None:
    """Changes the sharding of a manual computation from which an edge has replicated and unreduced axes."""
    owner = edge.input
    assert isinstance(owner, OpResult | BlockArgument)
    op = owning_op(owner)
    if isinstance(op, ManualComputationOp):
        name = "in_shardings" if isinstance(owner, BlockArgument) else "out_shardings"
        shardings = list(op.in_shardings if isinstance(owner, BlockArgument) else op.out_shardings)
        shardings[owner.index] = change(shardings[owner.index])
        Rewriter().set_attribute(op, name, ShardingPerValue(tuple(shardings)))


def _with_barrier_open(op_number: int, absence: Absence) -> Edit:
    """Lets the barrier propagate from the neighbor to the value."""
    is_forward = absence.neighbor_position < absence.position
    direction = PropagationDirection.FORWARD if is_forward else PropagationDirection.BACKWARD

    def edit(imported: Imported) -> None:
        op = imported.ops[op_number]
        if isinstance(op, PropagationBarrierOp):
            Rewriter().set_attribute(op, "allowed_direction", IntegerAttr(direction, I32))

    return edit


def _with_rule(op_number: int, rule: OpShardingRule) -> Edit:
    def edit(imported: Imported) -> None:
        Rewriter().set_attribute(imported.ops[op_number], SHARDING_RULE, rule)

    return edit


def _pointwise_rule(types: Sequence[object], operand_count: int) -> OpShardingRule | None:
    """The rule in which all dimensions of equal tensors correspond; None if they differ."""
    shapes = [type.shape for type in types if isinstance(type, RankedShapedType)]
    if len(shapes) != len(types) or any(shape != shapes[0] for shape in shapes):
        return None
    mapping = TensorMapping(tuple([DimMapping((dim,)) for dim in range(len(shapes[0]))]))
    return OpShardingRule(
        shapes[0], (mapping,) * operand_count, (mapping,) * (len(types) - operand_count), is_custom=True
    )
