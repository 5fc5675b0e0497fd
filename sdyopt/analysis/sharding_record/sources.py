"""All annotations that an axis of a value comes from.

    for source in sources(record, run, subject, axis):
        source.annotation

`arrivals` follows the steps that propagated the axis; after the first of them, others have nothing left
to propagate. So without the annotation at the end of that chain, the axis may still come by another way. A
source is an annotation from which steps along the operations of the program would propagate the axis to the
value, to the same dimension, if it were the only one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.analysis.sharding_record.arrivals import UserAnnotation, annotation_on, arrivals, dimension_of
from sdyopt.analysis.sharding_record.model import PropagationRun, Restored, Site
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.propagation.propagation_step import Shardings, StepRunner

# The search ends after this many values.
MAX_VALUES = 4_000


class AnnotationSource(NamedTuple):
    """An annotation, and the subject that has the axis from it."""

    subject: Subject
    annotation: UserAnnotation


def sources(
    record: ShardingRecord, run: PropagationRun, subject: Subject, axis: AxisRef
) -> list[AnnotationSource]:
    """The annotations that an axis comes from: those of the recorded steps first, then the closest ones."""
    result: dict[tuple[object, ...], AnnotationSource] = {}
    for arrival in arrivals(record, run, subject, axis):
        *_, last = arrival.chain()
        _add(result, last.subject, arrival.origin)
    steps = _Steps()
    pending = [(run, subject)]
    seen = set(pending)
    # `pending` grows while it is read.
    for current, value in pending:
        for source in _annotations(record, current, value, axis):
            _add(result, value, source)
        neighbors = [(current, neighbor) for neighbor in steps.givers(current, value, axis)]
        neighbors += [(earlier, value) for earlier in _earlier_runs(record, current, value, axis)]
        for neighbor in neighbors:
            if neighbor not in seen and len(pending) < MAX_VALUES:
                seen.add(neighbor)
                pending.append(neighbor)
    return list(result.values())


def _add(
    result: dict[tuple[object, ...], AnnotationSource], subject: Subject, annotation: UserAnnotation
) -> None:
    key = annotation.kind, annotation.op, annotation.number
    result.setdefault(key, AnnotationSource(subject, annotation))


def _has(sharding: TensorSharding | None, axis: AxisRef) -> bool:
    return sharding is not None and any(item.overlaps(axis) for dim in sharding.dims for item in dim.axes)


def _is_where(new: TensorSharding | None, current: TensorSharding | None, axis: AxisRef) -> bool:
    """Whether a new sharding has an axis in the same dimension as the current one."""
    return _has(new, axis) and dimension_of(new, axis) == dimension_of(current, axis)


def _annotations(
    record: ShardingRecord, run: PropagationRun, subject: Subject, axis: AxisRef
) -> Iterator[UserAnnotation]:
    """The annotation of a subject itself, if it has the axis."""
    if _has(run.initial.get(subject), axis) and not list(_earlier_runs(record, run, subject, axis)):
        yield annotation_on(record, run, subject)
    for site in run.sites_of.get(subject, ()):
        edge = site.subjects[-1]
        if edge is not None and axis.name in site.manual_axes:
            yield annotation_on(record, run, edge, is_manual_axis=True)
    for change in run.history.get(subject, ()):
        if isinstance(change.cause, Restored) and _has(change.after, axis) and not _has(change.before, axis):
            yield annotation_on(record, run, subject, change.cause.priority)


def _earlier_runs(
    record: ShardingRecord, run: PropagationRun, subject: Subject, axis: AxisRef
) -> Iterator[PropagationRun]:
    """The last run before this one, if a step of it left the axis on the subject."""
    for earlier in reversed(record.runs[: record.runs.index(run)]):
        if subject in earlier.final:
            if earlier.history.get(subject) and _has(earlier.final[subject], axis):
                yield earlier
            return


# --- The neighbors from which a step propagates the axis -------------------------------------------


class _Steps:
    """Runs steps without the axis that is followed, each once."""

    def __init__(self) -> None:
        self._updated: dict[tuple[StepRunner, OpShardingRule, Shardings], dict[int, TensorSharding]] = {}

    def updates(self, site: Site, shardings: Shardings) -> dict[int, TensorSharding]:
        """The shardings of operands and results that the step of a site changes."""
        assert site.runner is not None
        key = site.runner, site.rule, shardings
        if key not in self._updated:
            result = site.runner.run(site.rule, shardings)
            self._updated[key] = {} if result is None else dict(result.updates)
        return self._updated[key]

    def givers(self, run: PropagationRun, subject: Subject, axis: AxisRef) -> Iterator[Subject]:
        """The subjects from each of which alone the subject, or its sharding group, gets the axis."""
        for change in run.history.get(subject, ()):
            if change.position is None or len(run.changes_of[change.cause]) > 1:
                yield from (
                    item.subject
                    for item in run.changes_of[change.cause]
                    if item.after is change.after and (item.position is None or change.position is None)
                )
        for site in run.sites_of.get(subject, ()):
            if site.runner is None:
                continue
            own = [position for position, value in enumerate(site.subjects) if value == subject]
            bare = [_without(sharding, axis) for sharding in site.shardings]
            for position in own:
                if (sharding := bare[position]) is not None:
                    bare[position] = sharding.with_dims(tuple([dim.opened() for dim in sharding.dims]))
            for position, neighbor in enumerate(site.subjects):
                if neighbor is None or position in own or not _has(site.shardings[position], axis):
                    continue
                # The annotations that give the axis may give the axes as well that are in its way.
                for kept in (bare, _emptied(bare, own)):
                    shardings = list(kept)
                    shardings[position] = site.shardings[position]
                    updates = self.updates(site, tuple(shardings))
                    if any(_is_where(updates.get(number), site.shardings[number], axis) for number in own):
                        yield neighbor
                        break


def _emptied(shardings: Sequence[TensorSharding | None], positions: Sequence[int]) -> Shardings:
    """The shardings, with open dimensions without axes at these positions."""
    result = list(shardings)
    for position in positions:
        if (sharding := result[position]) is not None:
            result[position] = sharding.with_dims(
                tuple([DimensionSharding((), False) for _ in sharding.dims])
            )
    return tuple(result)


def _without(sharding: TensorSharding | None, axis: AxisRef) -> TensorSharding | None:
    """A sharding without an axis, and without the axes that are more minor in its dimension."""
    if sharding is None or not _has(sharding, axis):
        return sharding
    dims = []
    for dim in sharding.dims:
        kept = next((i for i, item in enumerate(dim.axes) if item.overlaps(axis)), len(dim.axes))
        dims.append(DimensionSharding(dim.axes[:kept], dim.is_closed, dim.priority))
    return sharding.with_dims(tuple(dims))
