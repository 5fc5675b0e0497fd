"""The scf dialect: loops, branches and parallel loops."""

from sdyopt.mlir.dialects.scf import if_patterns, loop_patterns, loops, parallel
from sdyopt.mlir.dialects.scf.conditional import IfOp, YieldOp, scf

DIALECT = scf

__all__ = ["DIALECT", "IfOp", "YieldOp", "if_patterns", "loop_patterns", "loops", "parallel"]
