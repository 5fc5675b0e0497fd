"""overridden-constraint: every use of a constraint constrains the value again, to another sharding.

    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>

Nothing computes with `%1`, so that its sharding is of no use; the value is only resharded on its way. The
same holds for a constraint on a value that the function returns with another result sharding.

Remove one of the two, or make them equal. In JAX, look for a `with_sharding_constraint` in a function and
another one around its call.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.diagnostics.diagnostic import Severity
from sdyopt.dialects.func import FuncOp, ReturnOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.ir.operation import Op
from sdyopt.ir.value import OpOperand
from sdyopt.lint.finding import Finding, Note
from sdyopt.lint.rule import Looks, Rule, Subject, rule
from sdyopt.report.causes import dims_text
from sdyopt.sharding.axis_lists import is_prefix


@rule("overridden-constraint", Severity.WARNING, Looks.AS_READ)
class OverriddenConstraint(Rule):
    def check(self, subject: Subject) -> Iterator[Finding]:
        for op in subject.as_read.module.walk():
            if isinstance(op, ShardingConstraintOp):
                uses = list(op.output.uses)
                others = [_required(use) for use in uses]
                if uses and all(other is not None and _conflict(op.sharding, other) for other in others):
                    yield _finding(op, uses[-1].owner, others[-1])


def _finding(op: ShardingConstraintOp, user: Op, other: TensorSharding | None) -> Finding:
    mine, theirs = (dims_text(each, op.sharding.rank) for each in (op.sharding, other))
    return Finding(
        op,
        f"this constraint to {mine} has no use: its value is constrained to {theirs} next",
        "remove one of the constraints, or make them equal",
        (Note("constrained again here" if not isinstance(user, ReturnOp) else "returned here", user),),
    )


def _required(use: OpOperand) -> TensorSharding | None:
    """The sharding that a use requires: that of a constraint, or of a function result."""
    user = use.owner
    if isinstance(user, ShardingConstraintOp):
        return user.sharding
    if isinstance(user, ReturnOp) and isinstance(user.parent_op, FuncOp):
        sharding = user.parent_op.result_attributes[use.index].get(SHARDING)
        return sharding if isinstance(sharding, TensorSharding) else None
    return None


def _conflict(first: TensorSharding, second: TensorSharding) -> bool:
    """Whether no sharding satisfies both."""
    if first.mesh_or_ref is not second.mesh_or_ref or first.rank != second.rank:
        return False
    if first.unreduced_axes or second.unreduced_axes:
        return False  # the second one reduces
    return any(_differs(one, other) for one, other in zip(first.dims, second.dims, strict=True))


def _differs(one: DimensionSharding, other: DimensionSharding) -> bool:
    if one.is_closed and other.is_closed:
        return one.axes != other.axes
    if one.is_closed:
        return not is_prefix(other.axes, one.axes)
    if other.is_closed:
        return not is_prefix(one.axes, other.axes)
    return not (is_prefix(one.axes, other.axes) or is_prefix(other.axes, one.axes))
