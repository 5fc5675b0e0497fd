"""sdy-apply-sharding-constraints: copy shardings of constraints to their inputs.

    %0 = stablehlo.add %a, %b : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
becomes
    %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>

Propagation copies the axes of a constraint to its input, but leaves the dimensions of the input open, so that
other operations can add axes. If the constraint is the only source of the input's sharding, that is not
intended. So the input gets the sharding of the constraint if the input has none, if all dimensions of the
constraint are closed, and if no other constraint on the input has a different sharding. The input sharding of
a manual computation counts as a constraint on the operand, and a sharding that says nothing, such as
`[{?}, {?}]`, as none. If an operation has several results, `[]` says nothing either.

If the input is the target of a data-flow edge, or of a function data-flow edge, its sharding would be that
of the whole edge and is not set, except for unreduced axes. Instead the constraint moves directly after its
input and replaces it in all other users; for the input sharding of a manual computation, a constraint is
inserted there.

In a chain of constraints on a value, the last one replaces the value in all users after the chain in the same
block, except returns of the entry function. This requires that the value has no sharding, as above, that the
first constraint of the chain is the only constraint on it, that each later one is the only user of the one
before it, and that there is no constraint on the result of the last one.

Callees are visited before their callers, which the step numbers of debug info show.

A constraint whose sharding is copied gets its sharding rule as an attribute.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import (
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    edge_of,
    shardable_value,
    sharding_of,
    sharding_or_replicated,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import OpOperand, OpResult, Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.outlining import entry_functions
from sdyopt.shardy.record import Means, record_copy

from ..common.support.call_graph import CallGraph
from ..common.support.function_shardings import directly_after_definition
from ..common.support.sharding_origins import ConstraintDebugInfo

_CONSTRAINT_OPS = (ShardingConstraintOp, ManualComputationOp)
_OPEN_DIMENSION = DimensionSharding(is_closed=False)


@register("sdy-apply-sharding-constraints")
class ApplyShardingConstraints(Pass):
    debug_sharding_origins: bool = option(
        default=False, help="write the origin of each axis: a constraint, input, output or manual computation"
    )
    debug_propagation_edge_sharding: bool = option(
        default=False, help="write the axes that propagated from each constraint to its input"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        debug_info = ConstraintDebugInfo(
            module, self.debug_sharding_origins, self.debug_propagation_edge_sharding, rewriter
        )
        functions = [op for op in module.block.ops if isinstance(op, FuncOp)]
        # The functions whose returns keep their operands.
        kept = (
            entry_functions(module)
            if len(functions) > 1 and Behavior.CONSTRAINTS_IN_CALL_ORDER.active
            else functions
        )
        for op in _visited(module, functions):
            if isinstance(op, ShardingConstraintOp):
                _use_end_of_chain(op, kept, rewriter)
                _apply_constraint(op, debug_info, rewriter)
            elif isinstance(op, ManualComputationOp):
                for use, sharding in zip(op.operand_uses, op.in_shardings, strict=True):
                    _apply_input_sharding(use, sharding, rewriter)
        debug_info.save()
        return rewriter.changed


def _visited(module: ModuleOp, functions: list[FuncOp]) -> Iterator[Op]:
    """The operations in the order in which constraints are applied."""
    if len(functions) > 1 and Behavior.CONSTRAINTS_IN_CALL_ORDER.active:
        for function in CallGraph(module).callees_first():
            yield from function.walk_post_order()
    else:
        yield from module.walk_post_order()


# --- One constraint -------------------------------------------------------------------------------


def _apply_constraint(op: ShardingConstraintOp, debug_info: ConstraintDebugInfo, rewriter: Rewriter) -> None:
    if not _can_apply(op.sharding, op.input):
        return
    if _is_edge_target(op.input):
        rewriter.move(op, **directly_after_definition(op.input))
        _replace_uses_with(op, op.input, op.sharding, rewriter)
        return
    rule = op.signature.cached(_pointwise_rule)
    if rule is not None and SHARDING_RULE not in op.attributes:
        rewriter.set_attribute(op, SHARDING_RULE, rule)
    record_copy(op, op.input, op.sharding, Means.CONSTRAINT)
    set_sharding(op.input, op.sharding, rewriter)
    if rule is not None:
        debug_info.record(op)


def _apply_input_sharding(use: OpOperand, sharding: TensorSharding, rewriter: Rewriter) -> None:
    """Applies the input sharding of a manual computation to one of its operands."""
    value = use.value
    if not _can_apply(sharding, value):
        return
    if not _is_edge_target(value):
        record_copy(use.owner, value, sharding, Means.MANUAL_INPUT)
        set_sharding(value, sharding, rewriter)
        return
    constraint = rewriter.create(
        ShardingConstraintOp,
        [value],
        [value.type],
        {"sharding": sharding},
        location=use.owner.lazy_location,
        **directly_after_definition(value),
    )
    _replace_uses_with(constraint, value, sharding, rewriter)


def _can_apply(sharding: TensorSharding, value: Value) -> bool:
    """Whether the sharding of a constraint on a value may become the sharding of the value."""
    return (
        shardable_value(value) is not None
        and not _is_sharded(value)
        and sharding.is_fully_closed
        and not any(_is_conflicting(use, sharding) for use in value.uses)
    )


def _is_sharded(value: Value) -> bool:
    """Whether a value has a sharding that a constraint must not replace."""
    sharding = sharding_of(value)
    if sharding is None:
        return False
    # Dimensions of a scalar are open if an attribute stores the shardings of several results.
    owner = shardable_value(value)
    is_one_of_several = isinstance(owner, OpResult) and len(owner.op.results) > 1
    says_nothing = (
        (sharding.rank > 0 or is_one_of_several)
        and all(dim is _OPEN_DIMENSION for dim in sharding.dims)
        and not sharding.replicated_axes
        and not sharding.unreduced_axes
    )
    return not (says_nothing and Behavior.CONSTRAINTS_ON_OPEN_VALUES.active)


def _is_conflicting(use: OpOperand, sharding: TensorSharding) -> bool:
    """Whether a use constrains the value to another sharding."""
    op = use.owner
    if isinstance(op, ShardingConstraintOp):
        return op.sharding is not sharding
    return isinstance(op, ManualComputationOp) and op.in_shardings.at(use.index) is not sharding


def _is_edge_target(value: Value) -> bool:
    op = value.defining_op
    if isinstance(op, FuncDataFlowEdgeOp):
        return Behavior.CONSTRAINTS_ON_FUNC_EDGES.active
    return isinstance(op, DataFlowEdgeOp) or edge_of(value) is not None


def _replace_uses_with(constraint: Op, value: Value, sharding: TensorSharding, rewriter: Rewriter) -> None:
    """Replaces a value with the result of its constraint, except in the constraint."""
    rewriter.replace_uses_except(value, constraint.result, constraint)
    if sharding.unreduced_axes:
        # Unreduced axes do not propagate, so the edge gets them here.
        old = sharding_or_replicated(value, sharding.mesh_or_ref)
        new = old.with_unreduced_axes(sharding.unreduced_axes, sharding.reduction)
        set_sharding(value, new, rewriter)


def _pointwise_rule(signature: OpSignature) -> OpShardingRule | None:
    """The sharding rule of a constraint: input and output dimensions correspond one to one."""
    (type,) = signature.result_types
    if not isinstance(type, RankedShapedType):
        return None
    mapping = TensorMapping(tuple([DimMapping((index,)) for index in range(type.rank)]))
    return OpShardingRule(type.shape, (mapping,), (mapping,))


# --- Chains ---------------------------------------------------------------------------------------


def _use_end_of_chain(head: ShardingConstraintOp, kept: list[FuncOp], rewriter: Rewriter) -> None:
    """Replaces the input of a chain of constraints with its end in the users after the chain."""
    tail = _end_of_chain(head)
    if tail is None:
        return
    for use in list(head.input.uses):
        user = use.owner
        if user is head or (isinstance(user, ReturnOp) and user.parent_op in kept):
            continue
        if user.parent is tail.parent and tail.is_before(user):
            rewriter.set_operand(use, tail.output)


def _end_of_chain(head: ShardingConstraintOp) -> ShardingConstraintOp | None:
    """The last constraint of a chain of at least two that starts here; None if there is no such chain."""
    if isinstance(head.input.defining_op, ShardingConstraintOp) or _is_sharded(head.input):
        return None
    if any(isinstance(user, _CONSTRAINT_OPS) and user is not head for user in head.input.users):
        return None
    tail = head
    while tail.output.has_one_use:
        user = next(tail.output.users)
        if not isinstance(user, ShardingConstraintOp):
            break
        tail = user
    if tail is head or any(isinstance(user, _CONSTRAINT_OPS) for user in tail.output.users):
        return None
    return tail
