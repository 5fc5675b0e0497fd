"""Insertion points relative to values."""

from __future__ import annotations

from sdyopt.mlir.ir.rewrite import InsertionPoint
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value


def directly_after_definition(value: Value) -> InsertionPoint:
    """Directly after the definition of a value, and before operations that were inserted there earlier."""
    if isinstance(value, BlockArgument):
        return {"at_start_of": value.owner}
    assert isinstance(value, OpResult)
    return {"after": value.op}
