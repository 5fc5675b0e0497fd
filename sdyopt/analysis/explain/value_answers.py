"""Answers about one value: in full, in a line for each axis, or why no axis shards it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.analysis.explain.absence_text import add_absences, reasons_of
from sdyopt.analysis.explain.advice import ExplainedChanges
from sdyopt.analysis.explain.arrival_text import (
    Sentence,
    add_arrival,
    add_other_sources,
    annotation_source_line,
    annotation_text,
    operations_text,
    tree_text,
    written_origin,
)
from sdyopt.analysis.explain.collective_answers import collectives_of
from sdyopt.analysis.explain.names import (
    ExplanationNames,
    axis_text,
    in_sdy,
    sharding_text,
    sharding_words,
    type_text,
)
from sdyopt.analysis.figures.collective_traffic import COLLECTIVES, GroupTraffic, traffic_of
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.source_locations import constraint_text, is_shard_map, operation_text
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.sharding_record.absences import Absence, Obstacle, absences
from sdyopt.analysis.sharding_record.arrivals import Arrival, annotation_on, arrivals
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.sharding_record.sources import sources
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result, owning_op, sharding_of
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.notation.partition_spec import jax_type, short_spec
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

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


# Of more uses, the first ones say enough.
_MAX_USES = 4
_RESHARDS = (CollectiveOp, ReshardOp, ShardingConstraintOp)


def add_replicated(
    root: Sentence, record: ShardingRecord, run: PropagationRun, subject: Subject, names: ExplanationNames
) -> None:
    """Adds why a value is not sharded, and how the program uses it."""
    owner = None if isinstance(subject, FunctionResult) else run.edge_owners.get(subject, subject)
    if isinstance(owner, OpResult | BlockArgument):
        values = record.values.successors(owner)
        manual = manual_computation(owner)
        if manual is not None:
            _add_manual(root, manual, values[-1], run, names)
            return
    else:
        values = []
    initial, sharding = run.initial.get(subject), run.final.get(subject)
    is_annotated = initial is not None and initial.is_fully_closed and initial == sharding
    if initial is None or not is_annotated:
        root.add("no operand or result of an operation that computes or uses it has another axis")
        return
    _add_annotation(root, initial, record, run, subject, names)
    for value in values[-1:]:
        uses = dict.fromkeys(_resharded(value, names))
        for text, source_line in list(uses)[:_MAX_USES]:
            root.add(text, source_line)


def manual_computation(value: OpResult | BlockArgument) -> ManualComputationOp | None:
    """The manual computation that a value is in."""
    op = owning_op(value) if isinstance(value, BlockArgument) else value.op.parent_op
    while op is not None and not isinstance(op, ManualComputationOp):
        op = op.parent_op
    return op


def _add_annotation(
    root: Sentence,
    sharding: TensorSharding,
    record: ShardingRecord,
    run: PropagationRun,
    subject: Subject,
    names: ExplanationNames,
) -> None:
    annotation = annotation_on(record, run, subject)
    mesh = run.mesh_of(sharding.mesh_or_ref)
    size = None if isinstance(subject, FunctionResult) else bytes_of(subject.type)
    copies = "" if size is None else f", {bytes_text(size)}"
    devices = "all devices" if mesh is None else f"each of {mesh.total_size} devices"
    words = sharding_words(sharding)
    root.add(
        f"annotated {words}: {annotation_text(annotation, names)}; replicated{copies} on {devices}",
        annotation_source_line(annotation, names),
    )


def _resharded(value: Value, names: ExplanationNames) -> Iterator[tuple[str, str]]:
    """The uses of a value with other shardings, after elementwise operations with no other operand."""
    pending = [value]
    for current in pending:
        for user in dict.fromkeys(current.users):
            if isinstance(user, _RESHARDS):
                last = _last_of_chain(user)
                sharding = sharding_of(last.results[0])
                if sharding is not None and any(dim.axes for dim in sharding.dims):
                    assert isinstance(current, OpResult | BlockArgument)
                    described = names.described(current)
                    named = described[0] if described else names.value(current)
                    what, words = named, sharding_words(sharding)
                is_reshard = constraint_text(last) == "reshard"
                text = f"reshard shards {what}" if is_reshard else f"a use of {what} needs it"
                yield f"{text} as {words}", names.source_line(user)
            elif is_elementwise(user.signature) and len(user.operands) == 1 and len(pending) < 100:
                pending.append(user.results[0])


def _last_of_chain(op: Op) -> Op:
    while op.results[0].has_one_use:
        user = next(iter(op.results[0].users))
        if not isinstance(user, CollectiveOp):
            break
        op = user
    return op


def _add_manual(
    root: Sentence, manual: ManualComputationOp, value: Value, run: PropagationRun, names: ExplanationNames
) -> None:
    op = value.defining_op
    if isinstance(op, COLLECTIVES):
        shardings = (*manual.in_shardings, *manual.out_shardings)
        traffic = traffic_of(op, run.mesh_of(shardings[0].mesh_or_ref) if shardings else None)
        local = _bytes_of(op.operands), _bytes_of(op.results)
        root.add(f"written in the program: along {traffic.axes}{_sent(traffic, *local)}{_ask(op, manual)}")
    kind = "shard_map" if is_shard_map(manual) else "manual computation"
    axes = ", ".join(f'"{axis}"' for axis in manual.manual_axes)
    text = f"in a {kind} along {axes}, along which the program says what each device computes"
    root.add(text, names.source_line(manual))
    users = [(f"used by {operation_text(user)}", names.source_line(user)) for user in value.users]
    for text, source_line in list(dict.fromkeys(users))[:_MAX_USES]:
        root.add(text, source_line)


def _bytes_of(values: Sequence[Value]) -> int | None:
    sizes = [size for value in values if (size := bytes_of(value.type)) is not None]
    return sum(sizes) if len(sizes) == len(values) else None


def _sent(traffic: GroupTraffic, bytes_in: int | None, bytes_out: int | None) -> str:
    if traffic.share_in is None or bytes_in is None or bytes_out is None:
        return ""
    return f", a device sends {bytes_text(traffic.share_in * bytes_in + traffic.share_out * bytes_out)}"


def _ask(op: Op, manual: ManualComputationOp) -> str:
    """How to ask for a collective, by its number in the report."""
    module: Op = manual
    while module.parent_op is not None:
        module = module.parent_op
    collectives = collectives_of(module)
    return f"; see --explain=#{collectives.index(op)}" if op in collectives else ""
