"""The cf dialect: assert, br, cond_br, switch."""

from sdyopt.mlir.dialects.cf import switch
from sdyopt.mlir.dialects.cf.branches import AssertOp, BranchOp, ConditionalBranchOp, cf

DIALECT = cf

__all__ = ["DIALECT", "AssertOp", "BranchOp", "ConditionalBranchOp", "switch"]
