"""Insertion and removal of data-flow edge operations."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, edge_of_owner, rank_of, sharding_of
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import Value

from .shardings import directly_after_definition


def add_edges(owners: Sequence[Value], rewriter: Rewriter) -> None:
    """Inserts an edge with the sharding of the owner after each owner, and replaces the owner's other uses.

    Owners without a static shape, such as tokens, cannot be sharded and get no edge.
    """
    # In reverse: each edge is inserted directly after its owner, which may be before the previous edges.
    for owner in reversed(owners):
        if can_have_edge(owner):
            edge = _create_edge(owner, rewriter)
            rewriter.replace_uses_except(owner, edge.result, edge)


def expect_invalid_edges(module: Op, op_class: type[Op], rewriter: Rewriter) -> None:
    """Edges that a program already has may be invalid once there are others, until all are removed."""
    if module.nested(op_class):
        rewriter.expect_invalid()


def remove_edges(owners: Sequence[Value], rewriter: Rewriter) -> None:
    """Replaces the edges of these owners with the owners."""
    for owner in owners:
        edge = edge_of_owner(owner)
        if edge is not None:
            rewriter.replace(edge, [owner])


def shardings_of_edges(owners: Sequence[Value]) -> ShardingPerValue | None:
    """For each owner the sharding of its edge, fully open if it has none; None if no edge has one."""
    edges = [edge_of_owner(owner) for owner in owners]
    shardings = [None if edge is None else edge.sharding for edge in edges]
    first = next((sharding for sharding in shardings if sharding is not None), None)
    if first is None:
        return None
    mesh = first.mesh_or_ref
    return ShardingPerValue(
        tuple(
            [
                sharding or fully_replicated(rank_of(owner.type), mesh, is_closed=False)
                for sharding, owner in zip(shardings, owners, strict=True)
            ]
        )
    )


def can_have_edge(value: Value) -> bool:
    """Whether a value has a static shape and so can be sharded."""
    return isinstance(value.type, RankedShapedType) and value.type.has_static_shape


def _create_edge(owner: Value, rewriter: Rewriter) -> Op:
    sharding = sharding_of(owner)
    attributes: dict[str, Attribute] = {} if sharding is None else {"sharding": sharding}
    return rewriter.create(
        DataFlowEdgeOp,
        [owner],
        [owner.type],
        attributes,
        location=owner.lazy_location,
        **directly_after_definition(owner),
    )
