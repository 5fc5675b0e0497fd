"""Places behind what there is."""

from __future__ import annotations

from sdyopt.ir.insertion_point import InsertionPoint
from sdyopt.ir.operation import Op
from sdyopt.ir.value import BlockArgument, Value


def insertion_point_after(op: Op) -> InsertionPoint:
    """The place behind an operation, and behind what was put there before."""
    if op.next is not None:
        return {"before": op.next}
    assert op.parent is not None
    return {"at_end_of": op.parent}


def insertion_point_after_definition(value: Value) -> InsertionPoint:
    """The first place where a value can be used.

    That may be the end of a block, for in a graph region uses may stand before what they use.
    """
    if isinstance(value, BlockArgument):
        first = value.owner.first
        assert first is not None, "the block of an argument that is used holds the user or what is around it"
        return {"before": first}
    op = value.defining_op
    assert op is not None
    return insertion_point_after(op)
