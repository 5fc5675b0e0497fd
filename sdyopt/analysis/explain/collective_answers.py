"""The answer to a question about a collective: why it is necessary, and what the alternatives were."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.explain.arrival_text import op_text
from sdyopt.analysis.explain.input_names import block_or_result
from sdyopt.analysis.explain.names import Names, sharding_text
from sdyopt.analysis.explain.reshard_cost import Cost, cost_of, projections
from sdyopt.analysis.explain.tree_text import Sentence
from sdyopt.analysis.figures.causes import last_of_chain, producer
from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh_or_ref, find_mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.record import Planned, Required, Reshard
from sdyopt.shardy.sharding.axis_lists import Axes, axes_after
from sdyopt.shardy.sharding.explicit_reshards.common_axes import Alternative, alternatives
from sdyopt.shardy.sharding.sharding_projection import TensorProjection

# The number of alternatives that are shown.
_SHOWN_ALTERNATIVES = 3


def collectives_of(module: Op) -> list[Op]:
    """The collectives of a program, by their numbers in the report."""
    return [op for op in module.walk() if isinstance(op, COLLECTIVES)]


def explain_collective(module: Op, number: int, record: ShardingRecord, names: Names) -> Sentence:
    """Why a collective of the program is necessary."""
    op = collectives_of(module)[number]
    figures = report_on(module).collectives[number]
    value = producer(op) if isinstance(op, CollectiveOp) else op.operands[0]
    moved = names.value(block_or_result(value))
    root = Sentence(
        f"#{number} {figures.kind} along {figures.axes} of {moved}: a device sends "
        f"{bytes_text(figures.wire_bytes)}{_times(figures)}",
        names.source_line(op),
    )
    cause = _cause(op, record)
    if isinstance(op, AllReduceOp | ReduceScatterOp):
        root.add(figures.cause)
    elif isinstance(cause, Reshard):
        _add_plan(root, cause, module, names)
    elif isinstance(cause, Required):
        root.add(f"{_taker(cause)} {sharding_text(cause.sharding)}", names.source_line(cause.user))
    elif cause is not None:
        root.add(f"{_written(cause)} {sharding_text(cause.sharding)}", names.source_line(cause))
    else:
        root.add(figures.cause)
    if figures.change:
        root.add(f"resharded: {figures.change}")
    name = names.input_name(block_or_result(value))
    if name is not None:
        function = f"@{name.function} " if name.function else ""
        root.add(f"see --explain='{function}{name.name}' for the sharding of what it moves")
    return root


def _times(figures: Collective) -> str:
    if figures.times is None or figures.times.low == figures.times.high == 1:
        return ""
    return f", {figures.times.high} times"


def _cause(op: Op, record: ShardingRecord) -> Reshard | Required | ShardingConstraintOp | ReshardOp | None:
    """What required a collective: an operation with planned reshards, a use, a constraint or a reshard."""
    values: list[Value] = [op.results[0]]
    if isinstance(op, CollectiveOp):
        values.append(last_of_chain(op))
        current = producer(op)
        values += [user.results[0] for user in current.users if isinstance(user, CollectiveOp)]
    earlier = [each for value in values for each in (value, *record.values.predecessors(value))]
    for each in earlier:
        if each in record.reshards:
            return record.reshards[each]
    ops = [each.op for each in earlier if isinstance(each, OpResult)]
    constraints = [each for each in ops if isinstance(each, ShardingConstraintOp)]
    reshards = [each for each in ops if isinstance(each, ReshardOp)]
    return constraints[0] if constraints else reshards[0] if reshards else None


def _taker(cause: Required) -> str:
    """What requires a sharding of one of its operands."""
    user = cause.user
    parent = user.parent_op
    if not user.is_terminator or parent is None:
        return f"{op_text(user)} takes its operand {cause.index} as"
    owner = f"@{parent.sym_name}" if isinstance(parent, FuncOp) else op_text(parent)
    return f"result {cause.index} of {owner} is sharded"


def _written(op: ShardingConstraintOp | ReshardOp) -> str:
    if isinstance(op, ShardingConstraintOp):
        return "a sharding constraint requires"
    return "the program reshards it to"


# --- Conflicts at one operation ---------------------------------------------------------------------


def _add_plan(root: Sentence, cause: Reshard, module: Op, names: Names) -> None:
    plan = cause.plan
    mesh_or_ref = common_mesh_or_ref(plan.shardings, lambda each: find_mesh(each, module))
    mesh = None if mesh_or_ref is None else find_mesh(mesh_or_ref, module)
    source_line = names.source_line(plan.op)
    if mesh is None:
        root.add(f"the operands and results of {plan.signature.name} are on different meshes", source_line)
        return
    tensors = projections(plan, mesh)
    types = (*plan.signature.operand_types, *plan.signature.result_types)
    sizes = [_elements(type) for type in types]
    found = alternatives(plan.rule, tensors, sizes, mesh)
    if not found:
        root.add(f"{plan.signature.name} is on a mesh with another device order", source_line)
        return
    lost = _lost_axes(tensors[cause.position], found[0].axes)
    chosen, *others = alternatives(plan.rule, tensors, sizes, mesh, lost)
    what = f"{plan.signature.name}: {_tensor(plan, cause.position, names)}"
    node = root.add(f"{what} does not fit {_reason(plan, chosen)}", source_line)
    shapes = LocalShapes(module)
    node.add(f"chosen: {_alternative(plan, chosen, cost_of(plan, chosen.axes, mesh, shapes), names)}")
    costs = [(cost_of(plan, each.axes, mesh, shapes), each) for each in others[:_SHOWN_ALTERNATIVES]]
    for cost, each in costs:
        node.add(f"instead: {_alternative(plan, each, cost, names)}")


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


def _alternative(plan: Planned, alternative: Alternative, cost: Cost, names: Names) -> str:
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


def _dims_of(rule: OpShardingRule, factor: int) -> str:
    """`dimension 0 of operand 0 and dimension 0 of the result`: the dimensions with a factor."""
    parts = []
    for position, mapping in enumerate(rule.tensors):
        for dim, each in enumerate(mapping.dims):
            if factor in each.factors:
                parts.append(f"dimension {dim} of {_position(rule, position)}")
    return " and ".join(parts)


def _position(rule: OpShardingRule, position: int) -> str:
    count = len(rule.operands)
    if position < count:
        return f"operand {position}"
    return "the result" if len(rule.results) == 1 else f"result {position - count}"


def _tensor(plan: Planned, position: int, names: Names) -> str:
    return f"{_position(plan.rule, position)} ({names.value(block_or_result(plan.values[position]))})"


def _elements(type: Type) -> int:
    return type.num_elements if isinstance(type, RankedShapedType) and type.has_static_shape else 0
