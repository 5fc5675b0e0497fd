"""Annotations of the user's program, and the steps that propagated an axis from one to a value.

    for arrival in arrivals(record, run, subject, axis):
        for link in arrival.chain():      # the closest step first
            link.step, link.source
        arrival.annotation

Sub-axes of one axis may have come by different ways, so an axis has one arrival for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from sdyopt.analysis.sharding_record.model import PropagationRun, RecordedChange, Restored, Site, Step
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, difference
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, NamedComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, block_or_result, owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.shardy.record import FunctionResult, Means, Subject
from sdyopt.shardy.sharding.axis_lists import Axes, is_prefix
from sdyopt.shardy.sharding.propagation.propagation_step import StepResult

# Greater than the number of any cause.
_NOW = 1 << 62


@dataclass(eq=False)
class Arrival:
    """An axis that a subject has, and how it got it.

    Either a step propagated it, from operand or result `source_position` to `position` of its site, or it is
    in an annotation. `group_member`: the member of the sharding group of the subject that got the axis by the
    step. A source may have got parts of the axis by different ways: `sources` are their arrivals there.
    """

    subject: Subject
    axis: AxisRef
    dim: int
    number: int
    step: Step | None = None
    position: int = 0
    source_position: int = 0
    factor: int = 0
    group_member: Subject | None = None
    sources: Sequence[Arrival] = ()
    annotation: UserAnnotation | None = None

    def chain(self) -> Iterator[Arrival]:
        """This arrival and those before it, up to the first annotation."""
        current = self
        while True:
            yield current
            if not current.sources:
                return
            current = current.sources[0]

    @property
    def origin(self) -> UserAnnotation:
        """The annotation at the end of the chain."""
        *_, last = self.chain()
        assert last.annotation is not None
        return last.annotation


def arrivals(
    record: ShardingRecord, run: PropagationRun, subject: Subject, axis: AxisRef, before: int = _NOW
) -> list[Arrival]:
    """The arrival of an axis at a subject; with `before`, of its parts before the cause of this number."""
    roots: list[Arrival] = []
    pending: list[tuple[PropagationRun, Subject, AxisRef, int, list[Arrival]]] = [
        (run, subject, part, before, roots) for part in _present(run, subject, axis, before)
    ]
    while pending:
        run, subject, axis, before, result = pending.pop()
        for part, change in _parts(run, subject, axis, before):
            if change is None and (earlier := _earlier_run(record, run, subject, part)) is not None:
                pending.append((earlier, subject, part, _NOW, result))
                continue
            if change is None or not isinstance(change.cause, Step):
                result.append(_annotated(record, run, subject, part, change))
                continue
            step = change.cause
            direct = _direct(run, change)
            member = None if direct == subject else direct
            for moved, position, source_position, factor in _moves(step, direct, part):
                sources: list[Arrival] = []
                arrival = Arrival(
                    subject,
                    moved,
                    dimension_of(change.after, moved),
                    step.number,
                    step,
                    position,
                    source_position,
                    factor,
                    member,
                    sources,
                )
                result.append(arrival)
                source = step.site.subjects[source_position]
                assert source is not None, "an axis comes from a sharding"
                if _has(run.sharding_before(source, step.number), moved):
                    pending.append((run, source, moved, step.number, sources))
                else:
                    # A manual axis, which only shardings outside of the computation have.
                    annotation = annotation_on(record, run, source, is_manual_axis=True)
                    sources.append(Arrival(source, moved, 0, 0, annotation=annotation))
    return roots


def _present(run: PropagationRun, subject: Subject, axis: AxisRef, before: int) -> list[AxisRef]:
    """The parts of an axis that a subject has, major to minor in each dimension."""
    sharding = run.sharding_before(subject, before)
    if sharding is None:
        return []
    mesh = _mesh(run, subject)
    parts = [intersection(axis, item, mesh) for dim in sharding.dims for item in dim.axes]
    return [part for part in parts if part is not None]


def dimension_of(sharding: TensorSharding | None, axis: AxisRef) -> int:
    """The first dimension that is sharded along part of an axis; -1 if there is none."""
    dims = () if sharding is None else sharding.dims
    return next((i for i, dim in enumerate(dims) if any(item.overlaps(axis) for item in dim.axes)), -1)


# --- The change that adds an axis -----------------------------------------------------------------


def _parts(
    run: PropagationRun, subject: Subject, axis: AxisRef, before: int
) -> Iterator[tuple[AxisRef, RecordedChange | None]]:
    """The parts of an axis with the last change that added each; None for a part that was there initially."""
    mesh = _mesh(run, subject)
    remaining: Axes = (axis,)
    for change in reversed(run.history.get(subject, [])):
        if change.cause.number >= before:
            continue
        old = [] if change.before is None else [axis for dim in change.before.dims for axis in dim.axes]
        new = [axis for dim in change.after.dims for axis in dim.axes]
        missing = difference(remaining, old, mesh)
        for part in missing:
            yield from ((common, change) for axis in new if (common := intersection(part, axis, mesh)))
        remaining = difference(remaining, missing, mesh)
        if not remaining:
            return
    yield from ((part, None) for part in remaining)


def intersection(first: AxisRef, second: AxisRef, mesh: Mesh) -> AxisRef | None:
    """The common part of two references; None if they do not overlap."""
    if not first.overlaps(second):
        return None
    if first.contains(second):
        return second
    if second.contains(first):
        return first
    start = max(first.pre_size, second.pre_size)
    end = min(first.next_pre_size(mesh), second.next_pre_size(mesh))
    return AxisRef(first.name, SubAxis(start, end // start))


def _earlier_run(
    record: ShardingRecord, run: PropagationRun, subject: Subject, axis: AxisRef
) -> PropagationRun | None:
    """The last run before this one that left the axis on the subject by a change."""
    for earlier in reversed(record.runs[: record.runs.index(run)]):
        if subject in earlier.final:
            has_changed = bool(earlier.history.get(subject))
            return earlier if has_changed and _has(earlier.final[subject], axis) else None
    return None


def _annotated(
    record: ShardingRecord,
    run: PropagationRun,
    subject: Subject,
    axis: AxisRef,
    change: RecordedChange | None,
) -> Arrival:
    sharding, number, priority = run.initial.get(subject), 0, 0
    if change is not None and isinstance(change.cause, Restored):
        sharding, number, priority = change.after, change.cause.number, change.cause.priority
    annotation = annotation_on(record, run, subject, priority)
    return Arrival(subject, axis, dimension_of(sharding, axis), number, annotation=annotation)


def _mesh(run: PropagationRun, subject: Subject) -> Mesh:
    sharding = run.final[subject]
    mesh = None if sharding is None else run.mesh_of(sharding.mesh_or_ref)
    assert mesh is not None, "the verifier requires the mesh of a sharding to exist"
    return mesh


def _has(sharding: TensorSharding | None, axis: AxisRef) -> bool:
    """Whether a tensor is sharded along any part of an axis."""
    return dimension_of(sharding, axis) >= 0


def _direct(run: PropagationRun, change: RecordedChange) -> Subject:
    """The operand or result that a step changed; a change may be of another member of its sharding group."""
    if change.position is not None:
        return change.subject
    siblings = (item for item in run.changes_of[change.cause] if item.position is not None)
    return next(sibling.subject for sibling in siblings if sibling.after is change.after)


def axes_added(run: PropagationRun, change: RecordedChange) -> Iterator[Arrival]:
    """The axes that a change due to a step adds, each with the step only; `sources` are left out."""
    step, mesh = change.cause, _mesh(run, change.subject)
    assert isinstance(step, Step)
    old = [] if change.before is None else [axis for dim in change.before.dims for axis in dim.axes]
    for dim, dim_sharding in enumerate(change.after.dims):
        for axis in difference(dim_sharding.axes, old, mesh):
            direct = _direct(run, change)
            member = None if direct == change.subject else direct
            for part, target, source, factor in _moves(step, direct, axis):
                number = step.number
                yield Arrival(change.subject, part, dim, number, step, target, source, factor, member)


# --- The operand or result that an axis comes from ------------------------------------------------


def _moves(step: Step, subject: Subject, axis: AxisRef) -> list[tuple[AxisRef, int, int, int]]:
    """The parts of an axis that a step gives to a subject, each with target, source and factor.

    If a value is an operand twice, the axis may have come to either.
    """
    for position, value in enumerate(step.site.subjects):
        if value == subject and (moves := _moves_to(step, position, axis)):
            return moves
    return []


def _moves_to(step: Step, target: int, axis: AxisRef) -> list[tuple[AxisRef, int, int, int]]:
    result, mapping = step.result, [*step.site.rule.tensors][target]
    moves = []
    for dim in mapping.dims:
        for factor in dim.factors:
            new = result.after[target].factors.get(factor)
            old = result.before[target].factors.get(factor)
            if new is None or old is None or new.axes == old.axes:
                continue
            for added in difference(new.axes, old.axes, result.mesh):
                part = intersection(axis, added, result.mesh)
                if part is not None:
                    source = _source(step.site, result, target, factor, new.axes, part)
                    moves.append((part, target, source, factor))
    return moves


def _source(site: Site, result: StepResult, target: int, factor: int, axes: Axes, part: AxisRef) -> int:
    """The first tensor in which the factor had all new axes; else the first one that had this part."""
    candidates = [
        (index, tensor.factors[factor].axes)
        for index, tensor in enumerate(result.before)
        if index != target and factor in tensor.factors and site.subjects[index] is not None
    ]
    for index, current in candidates:
        if is_prefix(axes, current):
            return index
    return next(index for index, current in candidates if any(axis.overlaps(part) for axis in current))


class AnnotationKind(Enum):
    """The place of an annotation."""

    INPUT = "input"
    OUTPUT = "output"
    CONSTRAINT = "sharding constraint"
    MANUAL_INPUT = "in_shardings of a manual computation"
    MANUAL_OUTPUT = "out_shardings of a manual computation"
    ATTRIBUTE = "sdy.sharding attribute"


class UserAnnotation(NamedTuple):
    """A sharding that the user has written.

    `op` has it, `number` is the index of the argument or result that it shards. `means` is how a pass copied
    it to the value that the chain ends at; None if no pass did. `priority` is the user priority.
    """

    kind: AnnotationKind
    op: Op
    number: int
    means: Means | None = None
    priority: int = 0


def annotation_on(
    record: ShardingRecord,
    run: PropagationRun,
    subject: Subject,
    priority: int = 0,
    is_manual_axis: bool = False,
) -> UserAnnotation:
    """The annotation from which a subject got its initial sharding.

    `is_manual_axis`: the axis is one of the manual axes of the computation at the data-flow edge.
    """
    copies = [] if is_manual_axis else record.copies.get(subject, [])
    if copies:
        kind, index = _KIND_OF_COPY[copies[-1].means], 0
        if copies[-1].means is Means.CALL and isinstance(subject, OpResult):
            index = subject.index
        return UserAnnotation(kind, copies[-1].op, index, copies[-1].means, priority)
    if isinstance(subject, FunctionResult):
        return UserAnnotation(AnnotationKind.OUTPUT, subject.function, subject.result_index, None, priority)
    owner = run.edge_owners.get(subject, subject)
    assert isinstance(owner, OpResult | BlockArgument)
    if owner is not subject:
        # The result of a call had the sharding before the call became a computation with an edge.
        for value in record.values.predecessors(owner):
            if isinstance(value, OpResult) and (earlier := record.copies.get(value)):
                return UserAnnotation(
                    AnnotationKind.OUTPUT, earlier[-1].op, value.index, Means.CALL, priority
                )
    return _on_value(owner, run, priority)


_KIND_OF_COPY = {
    Means.CONSTRAINT: AnnotationKind.CONSTRAINT,
    Means.MANUAL_INPUT: AnnotationKind.MANUAL_INPUT,
    Means.GROUP: AnnotationKind.ATTRIBUTE,
    Means.CALL: AnnotationKind.OUTPUT,
}


def _on_value(value: OpResult | BlockArgument, run: PropagationRun, priority: int) -> UserAnnotation:
    is_known = isinstance(value, BlockArgument) and value in run.op_of_argument
    op = run.op_of_argument[value] if is_known and isinstance(value, BlockArgument) else owning_op(value)
    is_argument = isinstance(value, BlockArgument)
    kind = AnnotationKind.ATTRIBUTE
    if isinstance(op, ManualComputationOp):
        kind = AnnotationKind.MANUAL_INPUT if is_argument else AnnotationKind.MANUAL_OUTPUT
    elif is_argument and isinstance(op, FuncOp | NamedComputationOp):
        kind = AnnotationKind.INPUT
    elif isinstance(op, ShardingConstraintOp):
        kind = AnnotationKind.CONSTRAINT
    elif isinstance(op, DataFlowEdgeOp):
        return _on_value(block_or_result(op.input), run, priority)
    return UserAnnotation(kind, op, value.index, None, priority)
