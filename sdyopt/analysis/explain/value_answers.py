"""Answers about one value: in full, or in a line for each axis."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.explain.absence_text import add_absences, reasons_of
from sdyopt.analysis.explain.advice import ExplainedChanges
from sdyopt.analysis.explain.arrival_text import (
    Sentence,
    add_arrival,
    add_other_sources,
    operations_text,
    tree_text,
    written_origin,
)
from sdyopt.analysis.explain.names import (
    ExplanationNames,
    axis_text,
    in_sdy,
    sharding_text,
    sharding_words,
    type_text,
)
from sdyopt.analysis.explain.replicated import add_replicated, manual_computation
from sdyopt.analysis.sharding_record.absences import Absence, Obstacle, absences
from sdyopt.analysis.sharding_record.arrivals import Arrival, arrivals
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.sharding_record.sources import sources
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.value import OpResult
from sdyopt.shardy.notation.partition_spec import jax_type, short_spec
from sdyopt.shardy.record import Subject

# Any width will do to see whether two answers are the same.
COMPARED_WIDTH = 100
# The number of reasons for missing axes in a short answer.
_MAX_REASONS = 2


def explain_subject(
    record: ShardingRecord,
    run: PropagationRun,
    subject: Subject,
    names: ExplanationNames,
    advice: ExplainedChanges | None,
) -> Sentence:
    """Explains the axes of a subject, and those that it did not get."""
    sharding = run.final[subject]
    type, (_, in_source) = type_text(subject), names.title(run, subject)
    root = _title(run, subject, names)
    names = names.within(run, subject)
    if start := _start_of_loop(run, subject, names):
        root.add(f"the loop carries it, from {start} on")
    for dim in () if sharding is None else sharding.dims:
        # Axes that came along the same steps are explained once.
        alike: dict[str, tuple[list[Arrival], Sentence]] = {}
        for axis in dim.axes:
            for arrival in arrivals(record, run, subject, axis):
                node = Sentence(f"shards dimension {arrival.dim}")
                add_arrival(node, arrival, run, names)
                result = sources(record, run, subject, arrival.axis)
                add_other_sources(node, result, arrival, names)
                alike.setdefault(tree_text(node, COMPARED_WIDTH), ([], node))[0].append(arrival)
        for same, node in alike.values():
            axes = ", ".join(axis_text(arrival.axis) for arrival in same)
            text = f"{axes} shard{'s' if len(same) == 1 else ''} dimension {same[0].dim}"
            root.children.append(Sentence(text, "", node.children))
    for truncated, reason in record.truncations.get(subject, ()):
        root.add(f"after propagation it is truncated to {sharding_text(truncated)}: {reason.value}")
    add_absences(root, _shown(list(absences(run, subject))), record, run, names, advice)
    if len(root.children) == bool(start):
        add_replicated(root, record, run, subject, names)
    if sharding is not None and short_spec(sharding):
        root.children.insert(0, Sentence(in_sdy(type, sharding, in_source)))
    return root


def summarize_subject(
    record: ShardingRecord,
    run: PropagationRun,
    subject: Subject,
    names: ExplanationNames,
    advice: ExplainedChanges | None,
    line: str,
) -> Sentence:
    """The annotation that each axis of a subject comes from, and why it did not get others, in a line each.

    `line` is the source line that the question is about, which is not repeated.
    """
    root = _title(run, subject, names)
    places = ("" if root.source_line == line else root.source_line, names.title(run, subject)[1])
    root.source_line = "  ".join(filter(None, places))
    names = names.within(run, subject)
    if start := _start_of_loop(run, subject, names):
        root.add(f"the loop carries it, from {start} on")
    sharding = run.final[subject]
    for dim in () if sharding is None else sharding.dims:
        alike: dict[tuple[str, str], list[str]] = {}
        for axis in dim.axes:
            for arrival in arrivals(record, run, subject, axis):
                steps = list(arrival.chain())[-2::-1]
                origin, line_of_origin = written_origin(arrival.origin, arrival.axis, names)
                text = f"dimension {arrival.dim}, from {origin}"
                if steps:
                    text += f", along {operations_text(steps)}"
                alike.setdefault((text, line_of_origin), []).append(axis_text(arrival.axis))
        for (text, source_line), axes in alike.items():
            shards = "shards" if len(axes) == 1 else "shard"
            root.add(f"{', '.join(axes)} {shards} {text}", "" if source_line == line else source_line)
    lacking = [absence for absence in absences(run, subject) if absence.obstacle is not Obstacle.NO_DIMENSION]
    reasons: dict[str, Absence] = {}
    for absence in lacking:
        where = f"dimension {absence.dim}" if absence.dim >= 0 else "any dimension"
        reason = reasons_of(absence, record, run, names)[0]
        reasons.setdefault(f"{axis_text(absence.axis)} does not shard {where}: {reason}", absence)
    for text, absence in list(reasons.items())[:_MAX_REASONS]:
        node = root.add(text)
        if advice is not None:
            advice.add_to(node, absence, record, run, names)
    if len(root.children) == bool(start):
        add_replicated(root, record, run, subject, names)
    return root


def _title(run: PropagationRun, subject: Subject, names: ExplanationNames) -> Sentence:
    """`dot_general (backward): bf16[8,16] is sharded P('x')`, and the line."""
    sharding, (name, _) = run.final[subject], names.title(run, subject)
    is_sharded = sharding is not None and any(dim.axes for dim in sharding.dims)
    owner = run.edge_owners.get(subject, subject)
    is_local = isinstance(owner, OpResult) and manual_computation(owner) is not None
    state = "is sharded" if is_sharded else "on each device" if is_local else "is not sharded"
    # `P()` would only repeat that it is not sharded.
    is_shown = sharding is not None and (is_sharded or sharding.unreduced_axes or not short_spec(sharding))
    shown = f" {sharding_words(sharding)}" if is_shown else ""
    text = f"{name}: {jax_type(type_text(subject))} {state}{shown}"
    return Sentence(text, names.within(run, subject).source_line_of_subject(run, subject))


def _start_of_loop(run: PropagationRun, subject: Subject, names: ExplanationNames) -> str:
    """The name of the value with which a loop-carried value starts; "" for any other value."""
    owner = run.edge_owners.get(subject)
    if not isinstance(owner, OpResult) or not isinstance(owner.op, WhileOp):
        return ""
    start = block_or_result(owner.op.operands[owner.index])
    while isinstance(start, OpResult) and isinstance(start.op, CollectiveOp):
        start = block_or_result(start.op.operands[0])
    return names.value(start)


def _shown(result: Sequence[Absence]) -> Sequence[Absence]:
    """The absences to show: those without a corresponding dimension only if there are no others."""
    shown = [absence for absence in result if absence.obstacle is not Obstacle.NO_DIMENSION]
    return shown or result
