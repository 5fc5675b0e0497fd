"""Why a collective is there: the operation that made it necessary, as the program shows it.

A reduction is needed where the operand is the partial result of an operation whose reduction factors are
sharded. Every other collective is needed by what uses its result.
"""

from __future__ import annotations

from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.dialects.sdy.axes import AxisRef, axis_refs_text
from sdyopt.dialects.sdy.collective_base import CollectiveOp
from sdyopt.dialects.sdy.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.dialects.stablehlo.control_flow import WhileOp
from sdyopt.ir.operation import Op
from sdyopt.ir.value import BlockArgument, OpResult, Value
from sdyopt.report.local_shapes import LocalShapes
from sdyopt.report.source_locations import SourceLocation, source_location
from sdyopt.sharding.axis_lists import overlap
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of


def producer(op: Op) -> Value:
    """The value that a chain of collectives starts from."""
    value = op.operand_at(0)
    while isinstance(value, OpResult) and isinstance(value.op, CollectiveOp):
        value = value.op.operand_at(0)
    return value


def consumers(op: Op) -> list[Op]:
    """The operations that use the result of a chain of collectives, in the order of uses."""
    found: dict[Op, None] = {}
    pending = list(op.results)
    while pending:
        value = pending.pop()
        for user in value.users:
            if isinstance(user, CollectiveOp):
                pending.append(user.results[0])
            else:
                found[user] = None
    return list(reversed(found))


def is_function_argument(value: Value) -> bool:
    """Whether a value is an argument of a function, whose location says nothing about why it is used."""
    return isinstance(value, BlockArgument) and isinstance(value.owner.parent_op, FuncOp)


def location_of(op: Op) -> SourceLocation:
    """The source line of a collective; on a function argument, that of the first use that needs it."""
    location = source_location(op.location)
    if location.line and not is_function_argument(producer(op)):
        return location
    for user in consumers(op):
        of_user = source_location(user.location)
        if of_user.line:
            return of_user._replace(name_stack=of_user.name_stack or location.name_stack)
    return location


def cause_of(op: Op, shapes: LocalShapes) -> str:
    """The reason for an sdy collective, in a sentence without a full stop."""
    if isinstance(op, AllReduceOp | ReduceScatterOp):
        axes = tuple(op.reduction_axes if isinstance(op, AllReduceOp) else op.reduce_scatter_axes.axes)
        reason = _reduction_cause(op, axes, shapes)
        if reason:
            return reason
    return _consumer_cause(op)


def _reduction_cause(op: Op, axes: tuple[AxisRef, ...], shapes: LocalShapes) -> str:
    value = producer(op)
    if not isinstance(value, OpResult):
        return ""
    sharding = shapes.sharding(value)
    if sharding is not None and overlap(sharding.unreduced_axes, axes):
        return f"{value.op.signature.name} has a result unreduced along {axis_refs_text(axes)}"
    rule = sharding_rule_of(value.op)
    if rule is None:
        return ""
    for operand, mapping in zip(value.op.operands, rule.operands, strict=False):
        of_operand = shapes.sharding(operand)
        if of_operand is None or of_operand.rank != mapping.rank:
            continue
        for dim, (factors, dim_sharding) in enumerate(zip(mapping.dims, of_operand.dims, strict=True)):
            if overlap(dim_sharding.axes, axes) and any(f in rule.reduction for f in factors.factors):
                return (
                    f"{value.op.signature.name} reduces over dimension {dim} of an operand, which is "
                    f"sharded along {axis_refs_text(dim_sharding.axes)}"
                )
    return ""


def _consumer_cause(op: Op) -> str:
    users = consumers(op)
    if not users:
        return "its result is unused"
    user = users[0]
    more = f" and {len(users) - 1} more" if len(users) > 1 else ""
    if isinstance(user, FuncReturnOp):
        function = user.parent_op
        name = f"@{function.sym_name}" if isinstance(function, FuncOp) else "the function"
        return f"a result of {name} has this sharding{more}"
    if isinstance(user, CallOp):
        return f"@{user.callee} takes an argument with this sharding{more}"
    if isinstance(user, ManualComputationOp | NamedComputationOp):
        return f"{user.signature.name} takes an operand with this sharding{more}"
    if isinstance(user, WhileOp):
        return f"the loop carries a value with this sharding{more}"
    if user.is_terminator and user.parent_op is not None:
        return f"{user.parent_op.signature.name} yields a value with this sharding{more}"
    source = producer(op)
    origin = " of a function argument" if is_function_argument(source) else ""
    return f"{user.signature.name}{more} needs this sharding{origin}"
