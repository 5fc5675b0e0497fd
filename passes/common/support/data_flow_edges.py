"""Data-flow edges made explicit: an operation of sdy behind each value that owns one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdyopt.dialects.sdy.ops import DataFlowEdgeOp
from sdyopt.dialects.sdy.sharding import ShardingPerValue, fully_replicated
from sdyopt.dialects.sdy.value_shardings import edge_of_owner, rank_of, sharding_of
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


def remove_edges(owners: Sequence[Value], rewriter: Rewriter) -> None:
    """Takes the edges behind these owners away; what used them uses the owners."""
    for owner in owners:
        edge = edge_of_owner(owner)
        if edge is not None:
            rewriter.replace(edge, [owner])


def shardings_of_edges(owners: Sequence[Value]) -> ShardingPerValue | None:
    """The shardings of the edges behind these owners, open ones where one has none; None if all have none."""
    edges = [edge_of_owner(owner) for owner in owners]
    shardings = [None if edge is None else edge.sharding for edge in edges]
    first = next((sharding for sharding in shardings if sharding is not None), None)
    if first is None:
        return None
    found = zip(shardings, owners, strict=True)
    mesh = first.mesh_or_ref
    return ShardingPerValue(
        tuple(
            [
                sharding or fully_replicated(rank_of(owner.type), mesh, is_closed=False)
                for sharding, owner in found
            ]
        )
    )


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
