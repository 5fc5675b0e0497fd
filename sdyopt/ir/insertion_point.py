"""Places to insert at, as the rewriter is told of them."""

from __future__ import annotations

from typing import TypedDict

from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op


class InsertionPoint(TypedDict, total=False):
    """Where an operation goes: one of the four. What is put at one place in turn stands in this order."""

    before: Op
    after: Op
    at_end_of: Block
    at_start_of: Block
