"""Insertion of reshards and all-reduces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRefList, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind, reduction_attributes
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of, sharding_or_replicated
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value
from sdyopt.shardy.sharding.explicit_reshards.dot_result import reduction_kind

from ...common.support.set_sharding import set_sharding
from .reshard_plan import ReshardPlan
from .unreduced_axes import all_reduce_use


def apply_plan(
    op: Op, plan: ReshardPlan, rewriter: Rewriter, mark_partial: bool = False
) -> list[tuple[Op, int]]:
    """Applies a plan: reshards operands, changes and reshards results, and all-reduces results.

    With `mark_partial`, results that are all-reduced become unreduced along the axes.

    Returns the operations that it creates, each with the index of the operand or result of `op` that it
    changes. The indices of results follow those of operands.
    """
    created = []
    for index, sharding in plan.operands:
        use = op.operand_uses[index]
        old = sharding_of(use.value)
        if old is not None and old.unreduced_axes and old.unreduced_axes != sharding.unreduced_axes:
            # The new sharding has some of the unreduced axes in a dimension.
            all_reduce_use(use, sharding, partial(find_mesh, op=op), {"before": op}, rewriter)
        created.append((reshard_use(use, sharding, {"before": op}, rewriter), index))
    after_op = insertion_point_after(op)
    for index, sharding in plan.results:
        result = op.results[index]
        target = sharding_or_replicated(result, plan.mesh_or_ref, is_closed=True)
        reshard = _replace_uses_with(ReshardOp, result, {"sharding": target}, after_op, rewriter)
        created.append((reshard, len(op.operands) + index))
        set_sharding(result, sharding, rewriter)
    if plan.reduction_axes:
        created += _all_reduce_results(op, plan, rewriter, mark_partial)
    return created


def reshard_use(
    use: OpOperand, sharding: TensorSharding, insertion_point: InsertionPoint, rewriter: Rewriter
) -> Op:
    """Reshards a value for one of its uses, and returns the reshard."""
    value = use.value
    reshard = rewriter.create(
        ReshardOp,
        [value],
        [value.type],
        {"sharding": sharding},
        location=value.lazy_location,
        **insertion_point,
    )
    rewriter.set_operand(use, reshard.result)
    return reshard


def _all_reduce_results(
    op: Op, plan: ReshardPlan, rewriter: Rewriter, mark_partial: bool
) -> list[tuple[Op, int]]:
    """All-reduces the results along the plan's axes.

    With `mark_partial`, the results become unreduced along these axes.
    """
    kind = reduction_kind(op) if Behavior.REDUCTION_KINDS_OF_BODIES.active else None
    if kind is None and Behavior.REDUCTIONS_OF_NO_KIND.active:
        return []
    after_op = insertion_point_after(op)
    axes = AxisRefList(plan.reduction_axes)
    created = []
    for result in op.results:
        sharding = sharding_or_replicated(result, plan.mesh_or_ref, is_closed=True)
        attributes = {
            "reduction_axes": axes,
            "out_sharding": sharding,
            **reduction_attributes(_default_kind(sharding) if kind is None else kind),
        }
        all_reduce = _replace_uses_with(AllReduceOp, result, attributes, after_op, rewriter)
        created.append((all_reduce, len(op.operands) + result.index))
        if mark_partial and kind is not None:
            mesh = find_mesh(plan.mesh_or_ref, op)
            assert mesh is not None, "plans are over meshes"
            unreduced = sorted_and_merged((*sharding.unreduced_axes, *plan.reduction_axes), mesh)
            set_sharding(result, sharding.with_unreduced_axes(unreduced, kind), rewriter)
    return created


def _default_kind(sharding: TensorSharding) -> ReductionKind:
    return ReductionKind.SUM if Behavior.REDUCTION_KINDS_OF_BODIES.active else sharding.reduction


def _replace_uses_with(
    op_class: type[Op],
    result: OpResult,
    attributes: Mapping[str, Attribute],
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> Op:
    """Inserts an operation on a result, replaces the other uses of the result with it, and returns it."""
    op = rewriter.create(
        op_class, [result], [result.type], attributes, location=result.lazy_location, **insertion_point
    )
    rewriter.replace_uses_except(result, op.result, op)
    return op


# --- Insertion points, at which several operations are inserted in order -----------------------------


def insertion_point_after(op: Op) -> InsertionPoint:
    """After an operation."""
    if op.next is not None:
        return {"before": op.next}
    assert op.parent is not None
    return {"at_end_of": op.parent}


def insertion_point_after_definition(value: Value) -> InsertionPoint:
    """The first point where a value can be used.

    It is the end of a block if the last operation defines the value, whose uses in a graph region may come
    before it.
    """
    if isinstance(value, BlockArgument):
        first = value.owner.first
        assert first is not None, "the block of an argument with uses has operations"
        return {"before": first}
    op = value.defining_op
    assert op is not None
    return insertion_point_after(op)
