"""Whether a program is the one of each device, after partitioning."""

from __future__ import annotations

from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.ir.operation import Op
from sdyopt.report.stablehlo_collectives import COLLECTIVES


def is_partitioned(module: Op) -> bool:
    """Whether a StableHLO collective is in no manual computation: types are local, whatever shardings say.

    Partitioning leaves the shardings of functions as they are. A partitioned program that does not
    communicate looks like one that is not partitioned.
    """
    return any(
        isinstance(op, COLLECTIVES)
        and not any(isinstance(parent, ManualComputationOp) for parent in op.ancestors())
        for op in module.walk()
    )
