"""Whether a program is the one of each device, after partitioning."""

from __future__ import annotations

from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.ir.operation import Op
from sdyopt.report.stablehlo_collectives import COLLECTIVES


def is_partitioned(module: Op) -> bool:
    """Whether StableHLO collectives but no manual computation are there: all types are local.

    Partitioning leaves the shardings of functions as they are. A partitioned program that does not
    communicate looks like one that is not partitioned.
    """
    ops = list(module.walk())
    is_manual = any(isinstance(op, ManualComputationOp) for op in ops)
    return not is_manual and any(isinstance(op, COLLECTIVES) for op in ops)
