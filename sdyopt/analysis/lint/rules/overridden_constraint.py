"""overridden-constraint: another constraint follows a constraint, which therefore has no effect.

    func.func @main(%0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<8x8xf32>

Every use of the value constrains it again, to a sharding that does not satisfy the first constraint, and what
defines it has a sharding of its own: the value never has the sharding that the first constraint requires. The
same holds for a constraint on a value that the function returns with another result sharding.

The rule looks at constraints that are followed by others, removes them from a copy of the program, and
reports those without which the partitioned program is the same. Remove the constraint. In JAX, look for a
`with_sharding_constraint` in a function and another one around its call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sdyopt.analysis.figures.causes import dims_text
from sdyopt.analysis.lint.rule import Finding, Looks, Note, Rule, Subject, rule
from sdyopt.analysis.trials.trials import Edit
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import OpOperand
from sdyopt.shardy.sharding.axis_lists import is_prefix


@rule("overridden-constraint", Severity.WARNING, Looks.TRIALS)
class OverriddenConstraint(Rule):
    def check(self, subject: Subject) -> Iterator[Finding]:
        trials = subject.trials
        if trials.base is None:
            return
        followed = {op: use for op in trials.base.module.walk() if (use := _conflicting_use(op)) is not None}
        if followed and not trials.has_no_effect(_removing(followed)):
            # At least one of them has an effect.
            candidates = list(followed)[: trials.count]
            followed = {op: followed[op] for op in candidates if trials.has_no_effect(_removing([op]))}
        for op, use in followed.items():
            yield _finding(op, use)


def _conflicting_use(op: Op) -> OpOperand | None:
    """The last use of a constraint, if each of its uses requires a sharding that does not satisfy it."""
    if not isinstance(op, ShardingConstraintOp):
        return None
    uses = list(op.output.uses)
    others = [_required(use) for use in uses]
    are_all = bool(uses) and all(other is not None and _conflict(op.sharding, other) for other in others)
    return uses[-1] if are_all else None


def _removing(constraints: Iterable[Op]) -> Edit:
    """Replaces constraints with their inputs."""

    def edit(copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
        for op in constraints:
            rewriter.replace(copies[op], [copies[op].operand_at(0)])

    return edit


def _finding(op: Op, use: OpOperand) -> Finding:
    assert isinstance(op, ShardingConstraintOp)
    mine, theirs = (dims_text(each, op.sharding.rank) for each in (op.sharding, _required(use)))
    return Finding(
        op,
        f"this constraint to {mine} has no effect: its value is constrained to {theirs} next",
        "remove this with_sharding_constraint: tried, the program with collectives stays the same",
        (Note("returned here" if isinstance(use.owner, ReturnOp) else "constrained again here", use.owner),),
        is_kept=True,
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
