"""The answer to a question about a collective: why it is necessary, and what the alternatives were."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace

from sdyopt.analysis.explain.advice import ExplainedChanges
from sdyopt.analysis.explain.arrival_text import Sentence, op_text
from sdyopt.analysis.explain.collective_sides import add_sides, sides_of
from sdyopt.analysis.explain.names import ExplanationNames, sharding_words
from sdyopt.analysis.figures.causes import last_of_chain, producer, replaced_by, stated_reason
from sdyopt.analysis.figures.collective_traffic import TRAFFIC
from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.local_shapes import LocalShapes, bytes_of
from sdyopt.analysis.figures.product_collectives import counted_collectives
from sdyopt.analysis.figures.source_locations import constraint_text, is_shard_map
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.figures.units import HOISTED, bytes_text
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh_or_ref, find_mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.mlir.value_names import result_text
from sdyopt.shardy.notation.partition_spec import specs_of
from sdyopt.shardy.record import FunctionResult, InsertedReshard, Planned, Required, Truncation
from sdyopt.shardy.sharding.axis_lists import Axes, axes_after, overlap, sharded_size
from sdyopt.shardy.sharding.explicit_reshards.common_axes import (
    Alternative,
    already_common_axes,
    alternatives,
)
from sdyopt.shardy.sharding.reshard_to_collectives.plan import plan_collectives
from sdyopt.shardy.sharding.sharding_projection import TensorProjection, project, unproject

# The number of alternatives that are shown.
_SHOWN_ALTERNATIVES = 3


def collectives_of(module: Op) -> list[Op]:
    """The collectives of a program, by their numbers in the report."""
    return counted_collectives(module)


def explain_collective(
    module: Op, number: int, record: ShardingRecord, names: ExplanationNames, advice: ExplainedChanges
) -> Sentence:
    """Explains the need for a collective of the program."""
    op = collectives_of(module)[number]
    report = advice.report_on(module)
    figures = report.collectives[number]
    cause = _cause(op, record, names)
    sides = sides_of(op, figures, cause, module)
    value = producer(op) if isinstance(op, CollectiveOp) else op.operands[0]
    if sides and replaced_by(op.parent_op) and isinstance(sides[0].value, Value):
        # The partitioner creates what is sent.
        value = sides[0].value
    moved = names.value(block_or_result(value))
    # A helper converts or slices a weight before it is moved.
    of = f"{figures.moved} ({moved})" if figures.moved not in ("", moved) else moved
    root = Sentence(
        f"#{number} {figures.kind} along {figures.axes} of {of}: a device sends "
        f"{bytes_text(figures.wire_bytes)}{_times(figures)}",
        names.source_line(op),
    )
    if figures.compiled:
        root.add(figures.compiled)
    if figures.change:
        node = root.add(f"resharded: {specs_of(figures.change)}")
        if specs_of(figures.change) != figures.change:
            node.add(f"in sdy: {figures.change}")
    if isinstance(op, AllReduceOp | ReduceScatterOp):
        root.add(figures.cause)
    elif isinstance(cause, InsertedReshard):
        computed = _computed_otherwise(cause, op, module)
        if computed is None:
            _add_plan(root, cause, module, names)
        else:
            what = f"{_position(cause.plan.rule, cause.position)} as {sharding_words(computed)}"
            planned_op = operation_name(cause.plan, names)
            root.add(
                f"{planned_op} is not partitioned as planned, and computes {what}",
                names.source_line(cause.plan.op),
            )
    elif isinstance(cause, Required) and _is_met(cause, op, module):
        why = figures.cause.partition(" needs this sharding: ")[2] if cause.user.is_terminator else ""
        function = cause.user.parent_op
        if cause.user.is_terminator and isinstance(function, FuncOp):
            why = _reason_of_result(
                FunctionResult(function, cause.index), cause.sharding, why, record, advice
            )
        text = f"{_taker(cause, names)} {sharding_words(cause.sharding)}{f': {why}' if why else ''}"
        # In a program of JAX, a return has the line that lowers the program.
        is_line = not (isinstance(cause.user.parent_op, FuncOp) and names.is_described(cause.user))
        root.add(text, names.source_line(cause.user) if is_line else "")
    elif cause is not None and not isinstance(cause, Required):
        root.add(f"{_written(cause)} {sharding_words(cause.sharding)}", names.source_line(cause))
    else:
        root.add(figures.cause)
    add_sides(root, sides, record, names, TensorOrigins(ExecutionCounts(module)))
    # What to write is read first, before why it is there and where the axes come from.
    change = Sentence("")
    advice.add_for_collective(change, figures)
    if any(child.text.startswith("help:") for child in change.children):
        root.children[1:1] = change.children
    else:
        root.children += change.children
    name = names.input_name(block_or_result(value))
    if name is not None:
        ask = f"'@{name.function} {name.name}'" if name.function else f"'{name.name}'"
        ask = f'"{figures.moved}"' if figures.moved and names.describes else ask
        root.add(f"see --explain={ask} for the sharding of what it moves")
    return root


def _computed_otherwise(cause: InsertedReshard, op: Op, module: Op) -> TensorSharding | None:
    """The sharding of a result that is not as planned: later passes replicate what they cannot partition."""
    plan = cause.plan
    if cause.position < len(plan.rule.operands) or not isinstance(op, CollectiveOp):
        return None
    computed, planned = LocalShapes(module).sharding(producer(op)), plan.planned[cause.position]
    if computed is None or planned is None or computed.rank != planned.rank:
        return None
    is_as_planned = [dim.axes for dim in computed.dims] == [dim.axes for dim in planned.dims]
    return None if is_as_planned else computed


def _is_met(cause: Required, op: Op, module: Op) -> bool:
    """Whether the collectives end with the sharding that was required; later passes may change it."""
    final = LocalShapes(module).sharding(last_of_chain(op)) if isinstance(op, CollectiveOp) else None
    return final is None or final.is_equivalent(cause.sharding)


def _reason_of_result(
    result: FunctionResult,
    sharding: TensorSharding,
    reason: str,
    record: ShardingRecord,
    advice: ExplainedChanges,
) -> str:
    """Why a result has a sharding: the program states it, or it is truncated, as the report says."""
    stated = advice.annotation(result)
    if stated is not None and stated.is_equivalent(sharding):
        return stated_reason(result_text(*result))
    truncated = {why for _, why in record.truncations.get(result, ())}
    is_known = "not divisible" in reason or ("sub-axes" in reason and Truncation.SUB_AXIS in truncated)
    return reason if truncated and is_known else ""


def _times(figures: Collective) -> str:
    hoisted = f", {HOISTED}" if figures.is_hoisted else ""
    if figures.times is None or figures.times.low == figures.times.high == 1:
        return hoisted
    return f", {figures.times.high} times{hoisted}"


def _cause(
    op: Op, record: ShardingRecord, names: ExplanationNames
) -> InsertedReshard | Required | ShardingConstraintOp | ReshardOp | None:
    """The origin of a collective: an operation with planned reshards, a use, a constraint or a reshard.

    Constraints and reshards are those of the source: passes insert reshards, too.
    """
    values: list[Value] = [op.results[0]]
    if isinstance(op, CollectiveOp):
        values.append(last_of_chain(op))
        current = producer(op)
        values += [user.results[0] for user in current.users if isinstance(user, CollectiveOp)]
    earlier = [predecessor for value in values for predecessor in (value, *record.values.predecessors(value))]
    for item in earlier:
        if item in record.reshards and isinstance(reshard := record.reshards[item], InsertedReshard):
            # A reshard at the operand that the plan moves: equal reshards of several operands are one
            # afterwards.
            plan = reshard.plan
            moved = [
                number for number in range(len(plan.values)) if plan.shardings[number] != plan.planned[number]
            ]
            return reshard if reshard.position in moved or not moved else InsertedReshard(plan, moved[0])
        if item in record.reshards:
            return record.reshards[item]
    ops = [
        value.op for value in earlier if isinstance(value, OpResult) and names.input_name(value) is not None
    ]
    constraints = [op for op in ops if isinstance(op, ShardingConstraintOp)]
    reshards = [op for op in ops if isinstance(op, ReshardOp)]
    return constraints[0] if constraints else reshards[0] if reshards else None


def _taker(cause: Required, names: ExplanationNames) -> str:
    """The operation that requires a sharding of one of its operands."""
    user = cause.user
    parent = user.parent_op
    loop = parent if user.is_terminator else user
    if isinstance(loop, WhileOp) and cause.index < len(loop.operands):
        start = names.value(block_or_result(loop.operands[cause.index]))
        return f"the loop carries it{f', from {start} on,' if user.is_terminator else ''} as"
    if is_shard_map(user):
        value = user.operands[cause.index]
        while isinstance(value, OpResult) and isinstance(value.op, CollectiveOp):
            value = value.op.operand_at(0)
        return f"in_specs of the shard_map, for {names.value(block_or_result(value))}, are"
    if not user.is_terminator or parent is None:
        return f"{op_text(user)} takes its operand {cause.index} as"
    if isinstance(parent, FuncOp):
        return f"{result_text(parent, cause.index)} is sharded"
    if is_shard_map(parent):
        return f"out_specs of the shard_map, for its result {cause.index}, are"
    return f"result {cause.index} of {op_text(parent)} is sharded"


def _written(op: ShardingConstraintOp | ReshardOp) -> str:
    if isinstance(op, ShardingConstraintOp):
        return f"{constraint_text(op)} requires"
    return "the program reshards it to"


# --- Conflicts at one operation ---------------------------------------------------------------------


def _add_plan(root: Sentence, cause: InsertedReshard, module: Op, names: ExplanationNames) -> None:
    plan = cause.plan
    mesh_or_ref = common_mesh_or_ref(plan.shardings, lambda mesh: find_mesh(mesh, module))
    mesh = None if mesh_or_ref is None else find_mesh(mesh_or_ref, module)
    source_line = names.source_line(plan.op)
    if mesh is None:
        root.add(f"the operands and results of {plan.signature.name} are on different meshes", source_line)
        return
    tensors = projections(plan, mesh)
    types = (*plan.signature.operand_types, *plan.signature.result_types)
    sizes = [_elements(type) for type in types]
    made = already_common_axes(plan.rule, project(plan.rule, plan.planned, mesh, closed_if_missing=True))
    result = alternatives(plan.rule, tensors, sizes, mesh, made=made)
    name = operation_name(plan, names)
    if not result:
        root.add(f"{name} {_without_conflict(plan, cause.position, mesh, tensors, module)}", source_line)
        return
    lost = _lost_axes(tensors[cause.position], result[0].axes)
    chosen, *others = alternatives(plan.rule, tensors, sizes, mesh, lost, made)
    if not _is_planned(plan, chosen):
        root.add(f"{name} {_taken(plan, cause.position)}", source_line)
        return
    tensor = _tensor(plan, cause.position, names)
    whole = _whole_dimension(plan, cause.position, tensors[cause.position])
    if whole < 0:
        reason = f"{name}: {tensor} does not fit {_reason(plan, chosen)}"
    elif cause.position < len(plan.rule.operands):
        reason = f"{name} needs all of dimension {whole} of {tensor}"
    else:
        reason = f"{name} computes all of dimension {whole} of {tensor}"
    node = root.add(reason, source_line)
    shapes = LocalShapes(module)
    node.add(f"chosen: {_alternative(plan, chosen, cost_of(plan, chosen.axes, mesh, shapes), names)}")
    costs = [
        (cost_of(plan, alternative.axes, mesh, shapes), alternative)
        for alternative in others[:_SHOWN_ALTERNATIVES]
    ]
    for cost, alternative in costs:
        node.add(f"instead: {_alternative(plan, alternative, cost, names)}")


def operation_name(plan: Planned, names: ExplanationNames) -> str:
    """`dot_general` for a line of Python, `stablehlo.dot_general` for others."""
    name = plan.signature.name
    return name.removeprefix("stablehlo.") if names.is_described(plan.op) else name


def _without_conflict(
    plan: Planned, position: int, mesh: Mesh, tensors: Sequence[TensorProjection], module: Op
) -> str:
    """What is resharded at an operation whose tensors have the same axes for each factor."""
    sharded = [
        sharding for sharding in plan.shardings if sharding is not None and not sharding.is_fully_replicated
    ]
    if len({find_mesh(sharding.mesh_or_ref, module) for sharding in sharded}) > 1:
        return "is on a mesh with another device order"
    tensor = tensors[position]
    for number, dim in enumerate(list(plan.rule.tensors)[position].dims):
        for factor in dim.factors:
            sharding = tensor.factors[factor]
            if sharding.overflow_axes:
                axes = axis_refs_text(sharding.axes + sharding.overflow_axes)
                where = _dims_of(plan.rule, factor, without=position)
                others = [dim for tensor in plan.rule.tensors for dim in tensor.dims if factor in dim.factors]
                is_whole = any(len(mapping.factors) == 1 for mapping in others)
                what = "the size of" if is_whole else "a part of"
                return (
                    f"splits dimension {number} of {_position(plan.rule, position)}, which has "
                    f"{sharded_size(sharding.axes + sharding.overflow_axes, mesh)} shards along {axes}: "
                    f"they do not divide {plan.rule.factor_sizes[factor]}, {what} {where}"
                )
    return _taken(plan, position)


def _taken(plan: Planned, position: int) -> str:
    """`takes operand 1 as P('x')`."""
    verb = "takes" if position < len(plan.rule.operands) else "computes"
    return f"{verb} {_position(plan.rule, position)} as {sharding_words(plan.planned[position])}"


def _is_planned(plan: Planned, chosen: Alternative) -> bool:
    """Whether the dimensions with the factor of an alternative have its axes in the plan."""
    if chosen.factor < 0:
        return True
    return all(
        overlap(sharding.dims[number].axes, chosen.factor_axes)
        for mapping, sharding in zip(plan.rule.tensors, plan.planned, strict=True)
        for number, dim in enumerate(mapping.dims if sharding is not None else ())
        if sharding is not None and dim.factors[:1] == (chosen.factor,)
    )


def _whole_dimension(plan: Planned, position: int, tensor: TensorProjection) -> int:
    """The first dimension that is sharded, though the operation needs all of it; -1 if there is none."""
    for number, dim in enumerate(list(plan.rule.tensors)[position].dims):
        is_sharded = any(
            factor in plan.rule.need_replication and tensor.factors[factor].axes for factor in dim.factors
        )
        before, after = plan.shardings[position], plan.planned[position]
        if is_sharded and before is not None and (after is None or not after.dims[number].axes):
            return number
    return -1


def _lost_axes(tensor: TensorProjection, axes: Sequence[Axes]) -> Axes:
    """The axes that the plan removes from the factors of a tensor; if there are none, those that it adds."""
    lost: Axes = ()
    for factor, current in tensor.factors.items():
        lost += axes_after(axes[factor], current.axes)
    gained: Axes = ()
    for factor, current in tensor.factors.items():
        gained += axes_after(current.axes, axes[factor])
    return lost or gained


def _reason(plan: Planned, chosen: Alternative) -> str:
    if chosen.factor < 0:
        return "the axes of the other operands and results"
    return f"{axis_refs_text(chosen.factor_axes)} on {_dims_of(plan.rule, chosen.factor)}"


def _alternative(plan: Planned, alternative: Alternative, cost: Cost, names: ExplanationNames) -> str:
    if alternative.factor < 0:
        text = "axes by the rules for this operation"
    else:
        text = (
            f"{axis_refs_text(alternative.factor_axes)} on {_dims_of(plan.rule, alternative.factor)}, which "
            f"shards {alternative.elements} elements"
        )
    parts = [_tensor(plan, position, names) for position in cost.resharded]
    what = f"reshard {', '.join(parts)}" if parts else "no reshard"
    if cost.reduced:
        what += f", all-reduce along {axis_refs_text(cost.reduced)}"
    return f"{text}; {what}: {bytes_text(cost.wire_bytes)}"


def _dims_of(rule: OpShardingRule, factor: int, without: int = -1) -> str:
    """`dimension 0 of operand 0 and dimension 0 of the result`: the dimensions with a factor."""
    parts = []
    for position, mapping in enumerate(rule.tensors):
        for dim, item in enumerate(mapping.dims):
            if factor in item.factors and position != without:
                parts.append(f"dimension {dim} of {_position(rule, position)}")
    return " and ".join(parts)


def _position(rule: OpShardingRule, position: int) -> str:
    count = len(rule.operands)
    if position < count:
        return f"operand {position}"
    return "the result" if len(rule.results) == 1 else f"result {position - count}"


def _tensor(plan: Planned, position: int, names: ExplanationNames) -> str:
    return f"{_position(plan.rule, position)} ({names.value(block_or_result(plan.values[position]))})"


def _elements(type: Type) -> int:
    return type.num_elements if isinstance(type, RankedShapedType) and type.has_static_shape else 0


class Cost(NamedTuple):
    """The cost of an alternative: the positions of the operands and results that it reshards, and the bytes.

    `reduced` are the axes along which results are all-reduced. The bytes are None if a size is unknown.
    """

    resharded: tuple[int, ...]
    reduced: Axes
    wire_bytes: Fraction | None


def projections(plan: Planned, mesh: Mesh) -> list[TensorProjection]:
    """The factor shardings of operands and results before the plan."""
    return project(plan.rule, plan.shardings, mesh, closed_if_missing=True)


def cost_of(plan: Planned, axes: Sequence[Axes], mesh: Mesh, shapes: LocalShapes) -> Cost:
    """The cost of giving each factor these axes."""
    types = (*plan.signature.operand_types, *plan.signature.result_types)
    like = next(sharding for sharding in plan.shardings if sharding is not None)
    total: Fraction | None = Fraction(0)
    resharded = []
    reduced = tuple([axis for factor in plan.rule.reduction for axis in axes[factor]])
    for position, (projection, mapping) in enumerate(
        zip(projections(plan, mesh), plan.rule.tensors, strict=True)
    ):
        old = plan.shardings[position] or fully_replicated(mapping.rank, like.mesh_or_ref, True)
        for factor, current in projection.factors.items():
            projection.factors[factor] = current._replace(axes=axes[factor], overflow_axes=())
        new = unproject(projection, mapping, plan.rule.factor_sizes, like.mesh_or_ref, mesh)
        is_result = position >= len(plan.rule.operands)
        if [dim.axes for dim in new.dims] != [dim.axes for dim in old.dims]:
            resharded.append(position)
            source, target = (new, old) if is_result else (old, new)
            total = _sum(total, reshard_bytes(types[position], source, target, mesh, shapes))
        if is_result and reduced:
            local = bytes_of(types[position], shapes.shape_of(types[position], new))
            size = sharded_size(reduced, mesh)
            total = _sum(total, None if local is None else Fraction(2 * (size - 1), size) * local)
    return Cost(tuple(resharded), reduced, total)


def reshard_bytes(
    type: Type, source: TensorSharding, target: TensorSharding, mesh: Mesh, shapes: LocalShapes
) -> Fraction | None:
    """The bytes that a device sends for a reshard; None if a size is unknown."""
    if not isinstance(type, RankedShapedType) or not type.has_static_shape:
        return None
    total, before = Fraction(0), bytes_of(type, shapes.shape_of(type, source))
    for step in plan_collectives(type.shape, source, target, mesh):
        after = bytes_of(type, shapes.shape_of(type, step.sharding))
        # A formula reads only the attributes of the collective, which does not exist yet.
        traffic = TRAFFIC[step.op_class](SimpleNamespace(**step.attributes), source, mesh, mesh)
        if before is None or after is None or traffic.share_in is None:
            return None
        total += traffic.share_in * before + traffic.share_out * after
        source, before = step.sharding, after
    return total


def _sum(total: Fraction | None, more: Fraction | None) -> Fraction | None:
    return None if total is None or more is None else total + more
