"""sdy-apply-sharding-constraints: let constraints decide the sharding of the values that they constrain.

    %0 = stablehlo.add %a, %b : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
becomes
    %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>

Propagation takes a constraint's axes to its input in any case, but does not close the input, so that more
axes could come to it from elsewhere. Where nothing but the constraint says how the input is to be sharded,
that is not what was meant. So the input gets the constraint's sharding if it has none, if the sharding is
fully closed, and if no other constraint wants the input sharded differently. The sharding of an operand of
a manual computation counts as a constraint on it.

If the input is the target of a data-flow edge, the sharding would be that of the whole edge. Then it is
not set; instead the constraint moves to its input, and all other users use the constrained value.

In a chain of constraints on a value the last one counts. What stands in the same block behind the chain
and uses the value from before it, uses the end of the chain from now on; returns of functions do not. This
is done if nothing constrains the value but the first of the chain, and the others are used by the next
one alone.

A constraint that was applied is given its sharding rule.
"""

from __future__ import annotations

from typing import Any

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import ReturnOp
from sdyopt.dialects.sdy.attribute_names import SHARDING_RULE
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.dialects.sdy.ops import DataFlowEdgeOp, ShardingConstraintOp
from sdyopt.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.dialects.sdy.value_shardings import (
    edge_of,
    shardable_value,
    sharding_of,
    sharding_or_replicated,
)
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import RankedShape
from sdyopt.ir.value import BlockArgument, OpOperand, OpResult, Value
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register

from ..common.support.set_sharding import set_sharding
from ..common.support.sharding_origins import ShardingOrigins

_CONSTRAINING = (ShardingConstraintOp, ManualComputationOp)


@register("sdy-apply-sharding-constraints")
class ApplyShardingConstraints(Pass):
    debug_sharding_origins: bool = option(
        default=False, help="say of every axis of a sharding which constraint, input or output it comes from"
    )
    debug_propagation_edge_sharding: bool = option(
        default=False, help="say at every constraint which axes went from it to its input"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        trace = ShardingOrigins(
            module, self.debug_sharding_origins, self.debug_propagation_edge_sharding, rewriter
        )
        for op in module.walk_post_order():
            if isinstance(op, ShardingConstraintOp):
                _use_end_of_chain(op, rewriter)
                _apply_constraint(op, trace, rewriter)
            elif isinstance(op, ManualComputationOp):
                for use, sharding in zip(op.operand_uses, op.in_shardings, strict=True):
                    _apply_operand(use, sharding, rewriter)
        trace.save()
        return rewriter.changed


# --- One constraint -------------------------------------------------------------------------------


def _apply_constraint(op: ShardingConstraintOp, trace: ShardingOrigins, rewriter: Rewriter) -> None:
    if not _decides(op.sharding, op.input):
        return
    if _is_on_edge(op.input):
        rewriter.move(op, **_place_behind(op.input))
        _replace_uses_with(op, op.input, op.sharding, rewriter)
        return
    rule = op.signature.cached(_pointwise_rule)
    if rule is not None and SHARDING_RULE not in op.attributes:
        rewriter.set_attribute(op, SHARDING_RULE, rule)
    set_sharding(op.input, op.sharding, rewriter)
    if rule is not None:
        trace.applied(op)


def _apply_operand(use: OpOperand, sharding: TensorSharding, rewriter: Rewriter) -> None:
    """Applies what a manual computation says about one of its operands."""
    value = use.value
    if not _decides(sharding, value):
        return
    if not _is_on_edge(value):
        set_sharding(value, sharding, rewriter)
        return
    constraint = rewriter.create(
        ShardingConstraintOp,
        [value],
        [value.type],
        {"sharding": sharding},
        location=use.owner.location,
        **_place_behind(value),
    )
    _replace_uses_with(constraint, value, sharding, rewriter)


def _decides(sharding: TensorSharding, value: Value) -> bool:
    """Whether a constraint with this sharding says alone, and all, how the value is sharded."""
    return (
        shardable_value(value) is not None
        and sharding_of(value) is None
        and sharding.is_fully_closed
        and not any(_wants_other(use, sharding) for use in value.uses)
    )


def _wants_other(use: OpOperand, sharding: TensorSharding) -> bool:
    op = use.owner
    if isinstance(op, ShardingConstraintOp):
        return op.sharding is not sharding
    return isinstance(op, ManualComputationOp) and op.in_shardings.at(use.index) is not sharding


def _is_on_edge(value: Value) -> bool:
    return isinstance(value.defining_op, DataFlowEdgeOp) or edge_of(value) is not None


def _replace_uses_with(constraint: Op, value: Value, sharding: TensorSharding, rewriter: Rewriter) -> None:
    """Makes all users of a value but the constraint itself use the constrained value."""
    rewriter.replace_uses_except(value, constraint.result, constraint)
    if sharding.unreduced_axes:
        # These do not propagate, so the edge has to have them by itself.
        old = sharding_or_replicated(value, sharding.mesh_or_ref)
        new = TensorSharding(old.mesh_or_ref, old.dims, old.replicated_axes, sharding.unreduced_axes)
        set_sharding(value, new, rewriter)


def _place_behind(value: Value) -> dict[str, Any]:
    """The place directly behind the definition of a value, for the rewriter."""
    if isinstance(value, BlockArgument):
        return {"at_start_of": value.owner}
    assert isinstance(value, OpResult)
    return {"after": value.op}


def _pointwise_rule(signature: OpSignature) -> OpShardingRule | None:
    """The sharding rule of a constraint: each dimension of the input is that of the output."""
    (type,) = signature.result_types
    if not isinstance(type, RankedShape):
        return None
    mapping = TensorMapping(tuple([DimMapping((index,)) for index in range(type.rank)]))
    return OpShardingRule(type.shape, (mapping,), (mapping,))


# --- Chains ---------------------------------------------------------------------------------------


def _use_end_of_chain(head: ShardingConstraintOp, rewriter: Rewriter) -> None:
    """If a chain of constraints starts here, lets users of its input that stand behind it use its end."""
    tail = _end_of_chain(head)
    if tail is None:
        return
    for use in list(head.input.uses):
        user = use.owner
        if user is head or isinstance(user, ReturnOp):
            continue
        if user.parent is tail.parent and tail.is_before(user):
            rewriter.set_operand(use, tail.output)


def _end_of_chain(head: ShardingConstraintOp) -> ShardingConstraintOp | None:
    """The last of at least two constraints, each made of the one before it, that decide a value."""
    if isinstance(head.input.defining_op, ShardingConstraintOp) or sharding_of(head.input) is not None:
        return None
    if any(isinstance(user, _CONSTRAINING) and user is not head for user in head.input.users):
        return None
    tail = head
    while tail.output.has_one_use:
        following = next(tail.output.users)
        if not isinstance(following, ShardingConstraintOp):
            break
        tail = following
    if tail is head or any(isinstance(user, _CONSTRAINING) for user in tail.output.users):
        return None
    return tail
