"""Putting remedies into programs."""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.dialects.sdy.axis_lists import AxisRefList
from sdyopt.dialects.sdy.collectives import AllReduceOp
from sdyopt.dialects.sdy.ops import ReshardOp
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.dialects.sdy.value_shardings import sharding_or_replicated
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.insertion_point import InsertionPoint
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import OpOperand, OpResult

from ...common.support.set_sharding import set_sharding
from .insertion_points import insertion_point_after
from .op_reshards import OpReshards


def insert_op_reshards(op: Op, reshards: OpReshards, rewriter: Rewriter) -> None:
    """Does what a remedy says to an operation and around it."""
    for index, sharding in reshards.operands:
        reshard_use(op.operand_uses[index], sharding, {"before": op}, rewriter)
    behind = insertion_point_after(op)
    for index, sharding in reshards.results:
        result = op.results[index]
        old = sharding_or_replicated(result, reshards.mesh_or_ref, is_closed=True)
        _replace_uses_with(ReshardOp, result, {"sharding": old}, behind, rewriter)
        set_sharding(result, sharding, rewriter)
    if reshards.reduced_axes:
        _insert_reduction(op, reshards, rewriter)


def reshard_use(
    use: OpOperand, sharding: TensorSharding, insertion_point: InsertionPoint, rewriter: Rewriter
) -> None:
    """Puts a reshard at a place for one use of a value."""
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


def _insert_reduction(op: Op, reshards: OpReshards, rewriter: Rewriter) -> None:
    behind = insertion_point_after(op)
    axes = AxisRefList(reshards.reduced_axes)
    for result in op.results:
        sharding = sharding_or_replicated(result, reshards.mesh_or_ref, is_closed=True)
        attributes = {"reduction_axes": axes, "out_sharding": sharding}
        _replace_uses_with(AllReduceOp, result, attributes, behind, rewriter)


def _replace_uses_with(
    op_class: type[Op],
    result: OpResult,
    attributes: Mapping[str, Attribute],
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> None:
    """Makes an operation of a result, which all others use in its place."""
    made = rewriter.create(
        op_class, [result], [result.type], attributes, location=result.lazy_location, **insertion_point
    )
    rewriter.replace_uses_except(result, made.result, made)
