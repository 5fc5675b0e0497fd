"""Insertion points, passed to the rewriter as keyword arguments: `rewriter.insert(op, **point)`."""

from __future__ import annotations

from typing import TypedDict

from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op


class InsertionPoint(TypedDict, total=False):
    """Exactly one of the four keys. Operations inserted at `before` or `at_end_of` keep their order."""

    before: Op
    after: Op
    at_end_of: Block
    at_start_of: Block
