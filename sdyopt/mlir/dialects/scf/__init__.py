"""The subset of the scf dialect that programs of the mesh dialect and of StableHLO use: for, if, while."""

from sdyopt.mlir.dialects.scf import if_patterns, loops
from sdyopt.mlir.dialects.scf.conditional import IfOp, YieldOp, scf

DIALECT = scf

__all__ = ["DIALECT", "IfOp", "YieldOp", "if_patterns", "loops"]
