"""Insertion points, passed to the rewriter as keyword arguments: `rewriter.insert(op, **point)`."""

from __future__ import annotations

from typing import TypedDict

from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op


class InsertionPoint(TypedDict, total=False):
    """Has exactly one of the four keys.

    Operations that are inserted one after another are in this order with `before` or `at_end_of`, and in
    reverse order with `after` or `at_start_of`.
    """

    before: Op
    after: Op
    at_end_of: Block
    at_start_of: Block
