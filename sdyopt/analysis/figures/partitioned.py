"""Whether a program has been partitioned, so that it is the program of each device."""

from __future__ import annotations

from sdyopt.analysis.figures.stablehlo_collectives import COLLECTIVES
from sdyopt.mlir.dialects.sdy.attribute_names import PARTITIONED
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.ir.operation import Op


def is_partitioned(module: Op) -> bool:
    """Whether the types of a program are local: what `sdy-finish-partitioning` marks.

    A program that other tools have partitioned has no mark, but StableHLO collectives and no manual
    computation. Shardings do not show it, because partitioning keeps those of functions.
    """
    if PARTITIONED in module.attributes:
        return True
    kinds = {type(op) for op in module.walk()}
    return ManualComputationOp not in kinds and not kinds.isdisjoint(COLLECTIVES)
