"""Making data-flow edges explicit: an operation of sdy behind each value that owns one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdyopt.dialects.sdy.ops import DataFlowEdgeOp
from sdyopt.dialects.sdy.values import sharding_of
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import RankedShape
from sdyopt.ir.value import BlockArgument, Value


def add_edges(owners: Sequence[Value], rewriter: Rewriter) -> None:
    """Puts an edge behind each owner, with its sharding; all that used the owner uses the edge.

    What has no shape, or not a static one, such as a token, cannot be sharded and gets no edge.
    """
    # From the last to the first, because each goes directly behind its owner, before those made earlier.
    for owner in reversed(owners):
        if can_have_edge(owner):
            edge = _edge(owner, rewriter)
            rewriter.replace_uses_except(owner, edge.result, edge)


def can_have_edge(value: Value) -> bool:
    """Whether a value has a static shape, which is what can be sharded."""
    return isinstance(value.type, RankedShape) and value.type.has_static_shape


def _edge(owner: Value, rewriter: Rewriter) -> Op:
    sharding = sharding_of(owner)
    attributes: dict[str, Attribute] = {} if sharding is None else {"sharding": sharding}
    place: Any = (
        {"at_start_of": owner.owner} if isinstance(owner, BlockArgument) else {"after": owner.defining_op}
    )
    return rewriter.create(
        DataFlowEdgeOp, [owner], [owner.type], attributes, location=owner.location, **place
    )
