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

from ...common.set_sharding import set_sharding
from .place import place_behind
from .remedies import Remedy


def apply_remedy(op: Op, remedy: Remedy, rewriter: Rewriter) -> None:
    """Does what a remedy says to an operation and around it."""
    for index, sharding in remedy.operands:
        reshard_use(op.operand_uses[index], sharding, {"before": op}, rewriter)
    behind = place_behind(op)
    for index, sharding in remedy.results:
        result = op.results[index]
        old = sharding_or_replicated(result, remedy.mesh_or_ref, is_closed=True)
        _use_instead(ReshardOp, result, {"sharding": old}, behind, rewriter)
        set_sharding(result, sharding, rewriter)
    if remedy.reduced_axes:
        _sum_up(op, remedy, rewriter)


def reshard_use(use: OpOperand, sharding: TensorSharding, place: InsertionPoint, rewriter: Rewriter) -> None:
    """Puts a reshard at a place for one use of a value."""
    value = use.value
    reshard = rewriter.create(
        ReshardOp, [value], [value.type], {"sharding": sharding}, location=value.lazy_location, **place
    )
    rewriter.set_operand(use, reshard.result)


def _sum_up(op: Op, remedy: Remedy, rewriter: Rewriter) -> None:
    behind = place_behind(op)
    axes = AxisRefList(remedy.reduced_axes)
    for result in op.results:
        sharding = sharding_or_replicated(result, remedy.mesh_or_ref, is_closed=True)
        attributes = {"reduction_axes": axes, "out_sharding": sharding}
        _use_instead(AllReduceOp, result, attributes, behind, rewriter)


def _use_instead(
    op_class: type[Op],
    result: OpResult,
    attributes: Mapping[str, Attribute],
    place: InsertionPoint,
    rewriter: Rewriter,
) -> None:
    """Makes an operation of a result, which all others use in its place."""
    made = rewriter.create(
        op_class, [result], [result.type], attributes, location=result.lazy_location, **place
    )
    rewriter.replace_uses_except(result, made.result, made)
