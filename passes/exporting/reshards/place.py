"""Places to insert at, as the rewriter is told of them."""

from __future__ import annotations

from typing import Any

from sdyopt.ir.operation import Op
from sdyopt.ir.value import BlockArgument, Value

# What is put at one place one after the other stands in this order.
Place = dict[str, Any]


def place_behind(op: Op) -> Place:
    """The place behind an operation, and behind what was put there before."""
    return {"at_end_of": op.parent} if op.next is None else {"before": op.next}


def place_behind_definition(value: Value) -> Place:
    """The first place where a value can be used.

    That may be the end of a block, for in a graph region uses may stand before what they use.
    """
    if isinstance(value, BlockArgument):
        return {"before": value.owner.first}
    op = value.defining_op
    assert op is not None
    return place_behind(op)
