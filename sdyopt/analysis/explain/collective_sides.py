"""The annotations on both sides of a collective: why each of the shardings in conflict is as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from sdyopt.analysis.explain.absence_text import reasons_of
from sdyopt.analysis.explain.arrival_text import Sentence, add_arrival, site_text
from sdyopt.analysis.explain.names import ExplanationNames
from sdyopt.analysis.figures.causes import last_of_chain, producer, replaced_by, summed_dimensions
from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.sharding_record.absences import absences
from sdyopt.analysis.sharding_record.arrivals import Arrival, arrivals
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.record import FunctionResult, InsertedReshard, Planned, Required, Subject

# The axes of values in conflict that are shown for a collective.
_SHOWN_SIDES = 4


class Side(NamedTuple):
    """An axis that shards a dimension of a value, or does not if `is_absent`: a reason for a collective."""

    value: Value | FunctionResult
    axis: AxisRef
    dim: int
    is_absent: bool = False

    def record_of(self, record: ShardingRecord) -> tuple[PropagationRun, Subject] | None:
        """What propagation saw of the value of a side, or of the value before collectives of it."""
        value = self.value
        while True:
            subject = subject_of(value, record)
            if subject is not None and (self.is_absent or _has(subject[0].final.get(subject[1]), self.axis)):
                return subject
            if not isinstance(value, OpResult) or not isinstance(value.op, CollectiveOp):
                return None
            value = value.op.operand_at(0)


def sides_of(
    op: Op,
    figures: Collective,
    cause: InsertedReshard | Required | ShardingConstraintOp | ReshardOp | None,
    module: Op,
) -> list[Side]:
    """The shardings that are in conflict at a collective, first that of the value that it moves."""
    shapes = LocalShapes(module)
    replaced = op.parent_op
    source = producer(op) if isinstance(op, CollectiveOp) else None
    if isinstance(op, AllReduceOp | ReduceScatterOp) and isinstance(source, OpResult):
        replaced = source.op
    if replaced is not None and replaced_by(replaced):
        names = figures.axis_names
        pairs = ((value, pair) for value in replaced.operands for pair in _axes_of(shapes.sharding(value)))
        return [Side(value, axis, dim) for value, (dim, axis) in pairs if axis.name in names]
    if not isinstance(op, CollectiveOp) or source is None:
        return []
    if isinstance(op, AllReduceOp | ReduceScatterOp):
        rows = summed_dimensions(op, shapes)
        if rows:
            return [Side(value, axis, dim) for value, dim, axes in rows for axis in axes]
    if isinstance(cause, InsertedReshard):
        return list(_sides_of_plan(cause.plan, cause.position))
    new_sharding = shapes.sharding(last_of_chain(op))
    old, new = _axes_of(shapes.sharding(source)), _axes_of(new_sharding)
    use = next(iter(last_of_chain(op).uses), None)
    if cause is None and use is not None and isinstance(new_sharding, TensorSharding):
        cause = Required(use.owner, use.index, new_sharding)
    taken = _taken(cause) if isinstance(cause, Required) else None
    lost, gained = ([Side(source, axis, dim) for dim, axis in pairs] for pairs in _changed(old, new))
    if taken is None:
        return lost
    return [
        *lost,
        *(side._replace(value=taken, is_absent=True) for side in lost),
        *(side._replace(value=taken) for side in gained),
        *(side._replace(is_absent=True) for side in gained),
    ]


# The dimensions of a tensor, and the axes that shard them.
_Axes = Sequence[tuple[int, AxisRef]]


def _axes_of(sharding: TensorSharding | None) -> _Axes:
    return [
        (number, axis)
        for number, dim in enumerate(() if sharding is None else sharding.dims)
        for axis in dim.axes
    ]


def _changed(old: _Axes, new: _Axes) -> tuple[_Axes, _Axes]:
    """What is only before a reshard, and what is only after it."""
    return [pair for pair in old if pair not in new], [item for item in new if item not in old]


def _sides_of_plan(plan: Planned, position: int) -> Iterator[Side]:
    """The axes that a plan removes from a tensor or gives to it, and what else has them, or has them not."""
    value, tensors = plan.values[position], list(plan.rule.tensors)
    lost, gained = _changed(_axes_of(plan.shardings[position]), _axes_of(plan.planned[position]))
    for dim, axis in lost:
        yield Side(value, axis, dim)
        factors = set(tensors[position].dims[dim].factors)
        if factors.isdisjoint(plan.rule.need_replication):
            yield from _against(plan, position, axis, factors)
    for dim, axis in gained:
        for other, other_dim in list(_others(plan, position, axis))[:1]:
            yield Side(plan.values[other], axis, other_dim)
        yield Side(value, axis, dim, is_absent=True)


def _against(plan: Planned, position: int, axis: AxisRef, factors: Set[int]) -> Iterator[Side]:
    """What has an axis for other factors than a tensor; or else what has these factors without the axis."""
    others = list(_others(plan, position, axis))
    tensors = list(plan.rule.tensors)
    for other, dim in others:
        if factors.isdisjoint(tensors[other].dims[dim].factors):
            yield Side(plan.values[other], axis, dim)
            return
    have = {position, *(other for other, _ in others)}
    for other, mapping in enumerate(tensors):
        for dim, item in enumerate(mapping.dims):
            if other not in have and not factors.isdisjoint(item.factors):
                yield Side(plan.values[other], axis, dim, is_absent=True)
                return


def _others(plan: Planned, position: int, axis: AxisRef) -> Iterator[tuple[int, int]]:
    """The other operands and results that are sharded along an axis, and the dimensions."""
    for other, sharding in enumerate(plan.shardings):
        if plan.values[other] is not plan.values[position]:
            yield from ((other, dim) for dim, item in _axes_of(sharding) if item.overlaps(axis))


def _taken(cause: Required) -> Value | FunctionResult | None:
    """The value or function result whose sharding is the one that an operation requires of its operand."""
    user, parent = cause.user, cause.user.parent_op
    if user.is_terminator and isinstance(parent, FuncOp):
        return FunctionResult(parent, cause.index)
    owner = parent if user.is_terminator and parent is not None else user
    has_edges = owner.data_flow is not None or isinstance(owner, CallOp)
    if not has_edges or (owner is user and isinstance(owner, ManualComputationOp)):
        return None
    return owner.results[cause.index] if cause.index < len(owner.results) else None


def add_sides(
    root: Sentence,
    sides: Sequence[Side],
    record: ShardingRecord,
    names: ExplanationNames,
    origins: TensorOrigins,
) -> list[tuple[PropagationRun, Arrival]]:
    """Adds how the axes in conflict came to values, each back to an annotation, or why they did not.

    Returns how those that shard values came.
    """
    seen: set[tuple[Subject, AxisRef, bool]] = set()
    came: list[tuple[PropagationRun, Arrival]] = []
    for side in sides:
        pair = side.record_of(record)
        if pair is None or len(seen) == _SHOWN_SIDES:
            continue
        run, subject = pair
        of = names.subject(run, subject)
        if isinstance(side.value, OpResult) and side.value.op.parent is not None:
            # A scan slices its weights.
            weight = origins.name(side.value)
            of = f"{weight} ({of})" if weight not in ("", of) else of
        if side.is_absent:
            missing = [absence for absence in absences(run, subject) if absence.axis.overlaps(side.axis)]
            same = [absence for absence in missing if absence.dim == side.dim] or missing
            if same and (subject, side.axis, True) not in seen:
                seen.add((subject, side.axis, True))
                node = root.add(f"{axis_ref_text(side.axis)} does not shard dimension {side.dim} of {of}")
                for reason in reasons_of(same[0], record, run, names):
                    node.add(f"{site_text(run, same[0].site)}: {reason}", names.source_line(same[0].site.op))
            continue
        for arrival in arrivals(record, run, subject, side.axis):
            if (subject, arrival.axis, False) not in seen:
                seen.add((subject, arrival.axis, False))
                node = root.add(f"{axis_ref_text(arrival.axis)} shards dimension {arrival.dim} of {of}")
                add_arrival(node, arrival, run, names)
                came.append((run, arrival))
    return came


def _has(sharding: TensorSharding | None, axis: AxisRef) -> bool:
    return any(item.overlaps(axis) for _, item in _axes_of(sharding))


def subject_of(
    value: Value | FunctionResult, record: ShardingRecord
) -> tuple[PropagationRun, Subject] | None:
    """What propagation saw of a value of the program after the passes, in the last run with it."""
    if isinstance(value, FunctionResult):
        return next(((run, value) for run in reversed(record.runs) if value in run.final), None)
    values = record.values
    for item in dict.fromkeys([value, *values.predecessors(value), *values.originals(value)]):
        for run in reversed(record.runs):
            subject = run.subject_of.get(item) or run.subject_of_owner.get(item)
            if subject is not None:
                return run, subject
    return None
