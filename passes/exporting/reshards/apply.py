"""Putting remedies into programs."""

from __future__ import annotations

from sdyopt.dialects.sdy.axis_lists import AxisRefList
from sdyopt.dialects.sdy.collectives import AllReduceOp
from sdyopt.dialects.sdy.ops import ReshardOp
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.dialects.sdy.values import sharding_or_replicated
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import OpOperand

from ...common.set_sharding import set_sharding
from .remedies import Remedy


def apply_remedy(op: Op, remedy: Remedy, rewriter: Rewriter) -> None:
    """Does what a remedy says to an operation and around it."""
    for index, sharding in remedy.operands:
        reshard_use(op.operand_uses[index], sharding, op, rewriter)
    behind = op.next
    assert behind is not None, "an operation with a rule does not end a block"
    for index, sharding in remedy.results:
        result = op.results[index]
        old = sharding_or_replicated(result, remedy.mesh_or_ref, is_closed=True)
        reshard = rewriter.create(
            ReshardOp,
            [result],
            [result.type],
            {"sharding": old},
            before=behind,
            location=result.lazy_location,
        )
        rewriter.replace_uses_except(result, reshard.result, reshard)
        set_sharding(result, sharding, rewriter)
    if remedy.reduced_axes:
        _sum_up(op, remedy, rewriter)


def reshard_use(use: OpOperand, sharding: TensorSharding, place: Op, rewriter: Rewriter) -> None:
    """Puts a reshard before `place` for one use of a value."""
    value = use.value
    reshard = rewriter.create(
        ReshardOp, [value], [value.type], {"sharding": sharding}, before=place, location=value.lazy_location
    )
    rewriter.set_operand(use, reshard.result)


def _sum_up(op: Op, remedy: Remedy, rewriter: Rewriter) -> None:
    behind = op.next
    assert behind is not None
    axes = AxisRefList(remedy.reduced_axes)
    for result in op.results:
        sharding = sharding_or_replicated(result, remedy.mesh_or_ref, is_closed=True)
        attributes = {"reduction_axes": axes, "out_sharding": sharding}
        total = rewriter.create(
            AllReduceOp, [result], [result.type], attributes, before=behind, location=result.lazy_location
        )
        rewriter.replace_uses_except(result, total.result, total)
