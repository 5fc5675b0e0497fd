"""Propagation barriers: they are removed, and become reshards where their users need their sharding.

Explicit reshards look through a barrier: the shardings that they make compatible are those of its input. Only
functions, calls, operations with data-flow edges, and operations of sdy other than reshards have seen the
sharding of its result.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.shardy.partition.local_types import LocalTypes

from .unreduced_uses import PartialUseResharder


def remove_barriers(
    ops: Sequence[Op], types: LocalTypes, resharder: PartialUseResharder, rewriter: Rewriter
) -> None:
    """Removes all barriers of a program, except one of each circle, which has no other value."""
    for op in ops:
        if isinstance(op, PropagationBarrierOp):
            _remove(op, types, resharder, rewriter)


def _remove(
    barrier: PropagationBarrierOp, types: LocalTypes, resharder: PartialUseResharder, rewriter: Rewriter
) -> None:
    if barrier.input is barrier.result:
        return
    before, after = types.sharding(barrier.input), types.sharding(barrier.result)
    if before is after or (before is not None and before.is_equivalent(after)):
        rewriter.replace(barrier, [barrier.input])
        return
    for use in list(barrier.result.uses):
        rewriter.set_operand(use, barrier.input)
        if _depends_on_barrier(use.owner):
            resharder.reshard(use, after, {"before": barrier}, True)
    rewriter.erase(barrier)


def _depends_on_barrier(user: Op) -> bool:
    if isinstance(user, PropagationBarrierOp | ReshardOp):
        return False
    return (
        isinstance(user, CallOp)
        or user.is_terminator
        or user.data_flow is not None
        or user.dialect_name == "sdy"
    )
