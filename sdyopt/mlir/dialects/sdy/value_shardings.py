"""The sharding of a value, whichever attribute stores it."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.attribute_names import SHARDING
from sdyopt.mlir.dialects.sdy.data_flow_ops import DataFlowEdgeOp
from sdyopt.mlir.dialects.sdy.interfaces import ShardingOwner
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import FUNCTION, RENAMES_OPERANDS
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value


def sharding_of(value: Value) -> TensorSharding | None:
    """The sharding of a value, None if it has none."""
    # The usual case first: a result of an operation without data-flow edges.
    if isinstance(value, OpResult) and value.op.data_flow is None:
        return sharding_of_result(value)
    owner = shardable_value(value)
    if isinstance(owner, OpResult):
        return sharding_of_result(owner)
    if owner is None:
        return None
    op, index = owning_op(owner), owner.index
    if FUNCTION in op.traits:
        attributes = op.argument_attributes  # type: ignore[attr-defined]  # of functions
        # A block after the entry block may have more arguments than the function.
        sharding = attributes[index].get(SHARDING) if index < len(attributes) else None
        return sharding if isinstance(sharding, TensorSharding) else None
    assert isinstance(op, ShardingOwner)
    return op.argument_sharding(index)


def sharding_of_result(result: OpResult) -> TensorSharding | None:
    """The sharding that a result stores; see `shardable_value`."""
    op = result.op
    if isinstance(op, ShardingOwner):
        return op.result_sharding(result.index)
    shardings = op.attributes.get(SHARDING)
    return shardings.at(result.index) if isinstance(shardings, ShardingPerValue) else None


def sharding_or_replicated(value: Value, mesh_or_ref: MeshOrRef, is_closed: bool = False) -> TensorSharding:
    """The sharding of a value; a fully replicated one if it has none."""
    return sharding_of(value) or fully_replicated(rank_of(value.type), mesh_or_ref, is_closed)


def shardable_value(value: Value) -> OpResult | BlockArgument | None:
    """The value that stores the sharding of `value`; None if no value does.

    For a target of a data-flow edge it is the result of the `sdy.data_flow_edge`, if there is one, or else
    the edge's owner.
    """
    assert isinstance(value, OpResult | BlockArgument)
    op = owning_op(value)
    if op.data_flow is not None:
        edge = edge_of(value)
        owner = op.data_flow.owner_of_target(op, value) if edge is None else edge.results[0]
        assert owner is None or isinstance(owner, OpResult | BlockArgument)
        return owner
    if isinstance(value, OpResult) or FUNCTION in op.traits:
        return value
    if RENAMES_OPERANDS in op.traits:
        operand = op.operand_at(value.index)
        assert isinstance(operand, OpResult | BlockArgument)
        # As in Shardy, this is not recursive.
        return operand if shardable_value(operand) is operand else None
    return None


def edge_of(target: Value) -> DataFlowEdgeOp | None:
    """The `sdy.data_flow_edge` of the edge that a value is a target of, if there is one."""
    assert isinstance(target, OpResult | BlockArgument)
    op = owning_op(target)
    owner = None if op.data_flow is None else op.data_flow.owner_of_target(op, target)
    return None if owner is None else edge_of_owner(owner)


def edge_of_owner(owner: Value) -> DataFlowEdgeOp | None:
    """The `sdy.data_flow_edge` that takes the owner of an edge, if there is one."""
    user = owner.first_use.owner if owner.first_use is not None and owner.has_one_use else None
    return user if isinstance(user, DataFlowEdgeOp) else None


def sources_of_edge(edge: DataFlowEdgeOp) -> list[OpOperand] | None:
    """The sources of the data-flow edge whose owner an `sdy.data_flow_edge` takes; None if it takes none."""
    owner = edge.input
    assert isinstance(owner, OpResult | BlockArgument)
    op = owning_op(owner)
    if op.data_flow is None or op.data_flow.owner_of_target(op, owner) is not owner:
        return None
    sources: list[OpOperand] = op.data_flow.sources(op, owner)
    return sources


def owning_op(value: OpResult | BlockArgument) -> Op:
    """The operation that defines a result, or that has the region of a block argument."""
    op = value.op if isinstance(value, OpResult) else value.owner.parent_op
    assert op is not None
    return op


def rank_of(type: Type) -> int:
    """The number of dimensions; 0 for types without a rank."""
    return type.rank if isinstance(type, RankedShapedType) else 0
