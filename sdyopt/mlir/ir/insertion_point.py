"""Insertion points, passed to the rewriter as keyword arguments: `rewriter.insert(op, **point)`."""

from __future__ import annotations

from typing import TypedDict

from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op


class InsertionPoint(TypedDict, total=False):
    """Has exactly one of the four keys.

    Several insertions at the same point leave the operations in the order of insertion with `before` and
    `at_end_of`, and in reverse order with `after` and `at_start_of`.
    """

    before: Op
    after: Op
    at_end_of: Block
    at_start_of: Block
