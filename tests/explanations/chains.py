"""Checks that the chain of every axis ends at an annotation, and that replaying the steps gives the axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sdyopt.analysis.sharding_record.arrivals import Arrival, arrivals
from sdyopt.analysis.sharding_record.model import Step
from sdyopt.mlir.dialects.sdy.axes import difference
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.axis_lists import overlap
from sdyopt.shardy.sharding.propagation.propagation_step import StepRunner
from tests.explanations.programs import Recorded


def check_chains(program: Recorded, counts: Counter[str]) -> Iterator[str]:
    """What is wrong with the chains of a program; counts axes and steps."""
    run = program.run
    for subject, sharding in run.final.items():
        for axis in () if sharding is None else [axis for dim in sharding.dims for axis in dim.axes]:
            counts["axes"] += 1
            found = arrivals(program.record, run, subject, axis)
            mesh = None if sharding is None else run.mesh_of(sharding.mesh_or_ref)
            if mesh is None or difference((axis,), [arrival.axis for arrival in found], mesh):
                yield f"{program.name}: part of {axis} comes from nowhere"
            for arrival in found:
                for each in arrival.chain():
                    counts["steps"] += each.step is not None
                    if not _replays(each):
                        yield f"{program.name}: a step along {each.step} does not give {axis}"
                *_, last = arrival.chain()
                if last.annotation is None:
                    yield f"{program.name}: the chain of {axis} does not end at an annotation"


def _replays(arrival: Arrival) -> bool:
    """Whether the step of an arrival, run again, moves the axis from its source to its target."""
    step = arrival.step
    if step is None:
        return arrival.annotation is not None
    result = StepRunner(step.runner.kind, step.runner.mesh_of).run(step.site.rule, step.shardings)
    if result is None:
        return False
    before = result.before[arrival.position].factors[arrival.factor].axes
    after = result.after[arrival.position].factors[arrival.factor].axes
    source = result.before[arrival.source_position].factors[arrival.factor].axes
    part = (arrival.axis,)
    return overlap(after, part) and overlap(source, part) and not overlap(before, part)


def check_replay(program: Recorded) -> Iterator[str]:
    """What is wrong if all changes are applied in order to the initial shardings."""
    run = program.run
    state: dict[Subject, TensorSharding | None] = dict(run.initial)
    for change in run.changes:
        # A step that updates a value twice, as two of its operands, has read the sharding before both.
        if state[change.subject] is not change.before and not isinstance(change.cause, Step):
            yield f"{program.name}: a change is recorded out of order"
        state[change.subject] = change.after
    if state != run.final:
        yield f"{program.name}: the changes do not lead to the final shardings"
