"""Why a value is not sharded along any axis: its annotation, the shard_map that it is in, and its uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.analysis.explain.arrival_text import Sentence, annotation_source_line, annotation_text
from sdyopt.analysis.explain.collective_answers import collectives_of
from sdyopt.analysis.explain.names import ExplanationNames, sharding_words
from sdyopt.analysis.figures.collective_traffic import COLLECTIVES, GroupTraffic, traffic_of
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.figures.user_lines import constraint_text, is_shard_map, operation_text
from sdyopt.analysis.sharding_record.arrivals import annotation_on
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op, sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

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
                    what, words = _named(current, names), sharding_words(sharding)
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


def _named(value: Value, names: ExplanationNames) -> str:
    assert isinstance(value, OpResult | BlockArgument)
    described = names.described(value)
    return described[0] if described else names.value(value)


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
