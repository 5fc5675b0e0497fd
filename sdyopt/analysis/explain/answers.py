"""The answer to a question about a value: a tree of sentences."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.explain.absence_text import add_absences
from sdyopt.analysis.explain.advice import Advice
from sdyopt.analysis.explain.arrival_text import add_arrival, add_other_sources, arrival_title
from sdyopt.analysis.explain.names import Names, sharding_text, type_text
from sdyopt.analysis.explain.tree_text import Sentence
from sdyopt.analysis.sharding_record.absences import Absence, Obstacle, absences
from sdyopt.analysis.sharding_record.arrivals import arrivals
from sdyopt.analysis.sharding_record.model import Run
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.sharding_record.sources import sources
from sdyopt.shardy.record import Subject


def explain_subject(
    record: ShardingRecord, run: Run, subject: Subject, names: Names, advice: Advice | None
) -> Sentence:
    """How a subject got its axes, and why it did not get others."""
    sharding = run.final[subject]
    type, name = type_text(subject), names.subject(run, subject)
    names = names.within(run, subject)
    is_sharded = sharding is not None and any(dim.axes for dim in sharding.dims)
    state = "is sharded" if is_sharded else "is not sharded"
    shown = f" {sharding_text(sharding)}" if sharding is not None else ""
    root = Sentence(f"{name}: {type} {state}{shown}", names.source_line_of_subject(run, subject))
    for dim in () if sharding is None else sharding.dims:
        for axis in dim.axes:
            for arrival in arrivals(record, run, subject, axis):
                node = root.add(arrival_title(arrival))
                add_arrival(node, arrival, run, names)
                found = sources(record, run, subject, arrival.axis)
                add_other_sources(node, found, arrival, names)
    for truncated, why in record.truncations.get(subject, ()):
        root.add(f"after propagation it is truncated to {sharding_text(truncated)}: {why.value}")
    add_absences(root, _shown(list(absences(run, subject))), record, run, names, advice)
    if not root.children:
        root.add("no operand or result of an operation that computes or uses it has another axis")
    return root


def _shown(found: Sequence[Absence]) -> Sequence[Absence]:
    """The absences to show: those without a corresponding dimension only if there are no others."""
    shown = [absence for absence in found if absence.obstacle is not Obstacle.NO_DIMENSION]
    return shown or found
