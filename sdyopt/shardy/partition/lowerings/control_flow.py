"""stablehlo.if, whose branches are local programs, and propagation barriers.

Every device takes the same branch. while and case have data-flow edges, so they need no lowering; sdy has no
edges for if.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp
from sdyopt.mlir.dialects.stablehlo.control_flow import IfOp
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.partition.registry import Lowered, lowering


@lowering(IfOp)
def lower_if(op: IfOp, local: LocalContext) -> Lowered:
    """An if is local: its condition is a scalar."""
    return None


@lowering(PropagationBarrierOp)
def lower_barrier(op: PropagationBarrierOp, local: LocalContext) -> Lowered:
    """A barrier for propagation computes nothing."""
    return [op.input]
