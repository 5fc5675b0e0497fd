"""stablehlo.if: its branches are local programs, and every device takes the same one.

while and case have data-flow edges, so they need no lowering; sdy has no edges for if.
"""

from __future__ import annotations

from sdyopt.dialects.stablehlo.control_flow import IfOp
from sdyopt.partition.local_context import LocalContext
from sdyopt.partition.registry import Lowered, lowering


@lowering(IfOp)
def lower_if(op: IfOp, local: LocalContext) -> Lowered:
    """An if is local: its condition is a scalar."""
    return None
