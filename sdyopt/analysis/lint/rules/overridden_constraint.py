"""overridden-constraint: a constraint that another one follows has no effect, or only costs a reshard.

    func.func @main(%0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<8x8xf32>

Every use of the value constrains it again, to a sharding that does not satisfy the first constraint, so
nothing is computed with the sharding that the first one requires: the value is only moved. The same holds for
a constraint on a value that the function returns with another result sharding.

The rule looks at constraints that are followed by others, removes them from a copy of the program, and
reports those without which the partitioned program is the same, or sends less. Remove the constraint. In JAX,
look for a `with_sharding_constraint` in a function and another one around its call. JAX may need an
`out_sharding`, such as that of `.at[…].get`: give it the second sharding in place of the first. One that
costs nothing is not reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.effect import Effect, Measure
from sdyopt.analysis.figures.causes import dims_text
from sdyopt.analysis.figures.source_locations import constraint_text, is_in_call, is_statement
from sdyopt.analysis.lint.rule import Finding, LintedPrograms, Looks, Note, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpOperand, OpResult
from sdyopt.shardy.notation.partition_spec import specs_or_dims
from sdyopt.shardy.sharding.axis_lists import is_prefix


@rule("overridden-constraint", Severity.WARNING, Looks.TRIALS)
class OverriddenConstraint(Rule):
    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        trials = programs.trials
        if not trials.can_try:
            return
        followed = {op: use for op in trials.module.walk() if (use := _conflicting_use(op)) is not None}
        if not followed:
            return
        of_all = trials.partitioned(_removing(followed))
        if of_all is not None and of_all.text == trials.with_collectives.text:
            yield from (_finding(op, use) for op, use in followed.items() if not is_in_call(op))
            return
        # At least one of them has an effect.
        for op in list(followed)[: trials.count]:
            after = of_all if len(followed) == 1 else trials.partitioned(_removing([op]))
            if after is None:
                continue
            effect = Effect(trials.with_collectives.figures, after.figures)
            if after.text == trials.with_collectives.text:
                if not is_in_call(op):
                    yield _finding(op, followed[op])
            elif effect.saved(Measure.WIRE) > 0 and _is_sharded_before(op):
                yield _finding(op, followed[op], effect)


def _is_sharded_before(constraint: Op) -> bool:
    """Whether the value has a sharding of its own; any other would get that of the constraint."""
    return sharding_of(constraint.operand_at(0)) is not None


def _conflicting_use(op: Op) -> OpOperand | None:
    """The last use of a constraint, if each of its uses requires a sharding that does not satisfy it."""
    if not isinstance(op, ShardingConstraintOp) or not is_statement(op):
        return None
    uses = list(op.output.uses)
    others = [_required(use) for use in uses]
    are_all = bool(uses) and all(other is not None and _conflict(op.sharding, other) for other in others)
    return uses[-1] if are_all else None


def _removing(constraints: Iterable[Op]) -> Change:
    """The change without constraints; those of calls, which JAX may need, get the next sharding."""
    edits = []
    for op in constraints:
        assert isinstance(op, ShardingConstraintOp) and isinstance(op.output, OpResult)
        mesh = find_mesh(op.sharding.mesh_or_ref, op)
        assert mesh is not None
        use = _conflicting_use(op)
        following = _required(use) if use is not None and is_in_call(op) else None
        edits.append(AnnotationEdit(op.output, following or op.sharding, mesh, is_removal=following is None))
    return Change(tuple(edits))


def _finding(op: Op, use: OpOperand, effect: Effect | None = None) -> Finding:
    """The finding of a constraint without an effect, or with that of moving its value."""
    assert isinstance(op, ShardingConstraintOp)
    shardings = [dims_text(sharding, op.sharding.rank) for sharding in (op.sharding, _required(use))]
    mine, theirs = specs_or_dims(*shardings)
    what = f"write {theirs} in its out_sharding" if is_in_call(op) else f"remove this {constraint_text(op)}"
    consequence = "has no effect" if effect is None else "only moves its value"
    tried = "the program with collectives stays the same" if effect is None else effect.figures_text
    return Finding(
        op,
        f"this constraint to {mine} {consequence}: the value is constrained to {theirs} next",
        f"{what}: {tried}",
        (Note("returned here" if isinstance(use.owner, ReturnOp) else "constrained again here", use.owner),),
        cost=None if effect is None else effect.saved(Measure.WIRE),
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
