"""Whether a program has been partitioned, so that it is the program of each device."""

from __future__ import annotations

from sdyopt.analysis.figures.stablehlo_collectives import COLLECTIVES
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.ir.operation import Op


def is_partitioned(module: Op) -> bool:
    """Whether the program has StableHLO collectives but no manual computation, so that all types are local.

    Shardings do not show it, because partitioning keeps those of functions. A partitioned program that does
    not communicate is not recognized.
    """
    ops = list(module.walk())
    is_manual = any(isinstance(op, ManualComputationOp) for op in ops)
    return not is_manual and any(isinstance(op, COLLECTIVES) for op in ops)
