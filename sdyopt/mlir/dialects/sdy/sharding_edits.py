"""Setting and removing the shardings of values."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import (
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
    with_manual_axes,
)
from sdyopt.mlir.dialects.sdy.value_shardings import (
    IN_SHARDINGS,
    DataFlowEdgeOp,
    argument_owners,
    owning_op,
    rank_of,
    shardable_value,
)
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import FUNCTION
from sdyopt.mlir.ir.value import BlockArgument, Value


def set_sharding(value: Value, sharding: TensorSharding, rewriter: Rewriter) -> None:
    """Sets the sharding of a value. Does nothing if the value cannot have one.

    If one attribute stores the shardings of several values and has none yet, the others get fully open ones.
    """
    shardable = shardable_value(value)
    if shardable is None:
        return
    op, index = owning_op(shardable), shardable.index
    if FUNCTION in op.traits:
        rewriter.set_argument_attribute(op, index, SHARDING, sharding)
    elif isinstance(op, ManualComputationOp | NamedComputationOp):
        is_input = isinstance(shardable, BlockArgument)
        if is_input and isinstance(op, ManualComputationOp):
            sharding = with_manual_axes(sharding, op.in_shardings.shardings[index], op.manual_axes)
        name, values = ("in_shardings", op.operands) if is_input else ("out_shardings", op.results)
        _set_one(op, name, values, index, sharding, rewriter)
    elif isinstance(op, ShardingOwner):
        rewriter.set_attribute(op, _sharding_attribute_name(op), sharding)
    elif isinstance(shardable, BlockArgument):
        owners = argument_owners(op)
        _set_one(op, IN_SHARDINGS, owners, owners.index(shardable), sharding, rewriter)
    else:
        _set_one(op, SHARDING, op.results, index, sharding, rewriter)


def remove_sharding(value: Value, rewriter: Rewriter) -> bool:
    """Removes the sharding of a value. Returns False if the value must have one.

    If one attribute stores the shardings of several values, that of this value becomes fully open, unless the
    others are so, too.
    """
    shardable = shardable_value(value)
    if shardable is None:
        return True
    op, index = owning_op(shardable), shardable.index
    if FUNCTION in op.traits:
        rewriter.set_argument_attribute(op, index, SHARDING, None)
    elif isinstance(op, DataFlowEdgeOp):
        rewriter.remove_attribute(op, "sharding")
    elif isinstance(op, ShardingOwner):
        return False
    elif isinstance(shardable, BlockArgument):
        _open_one(op, IN_SHARDINGS, argument_owners(op).index(shardable), rewriter)
    else:
        _open_one(op, SHARDING, index, rewriter)
    return True


def _open_one(op: Op, name: str, index: int, rewriter: Rewriter) -> None:
    """Makes one of the shardings that an attribute stores fully open."""
    shardings = op.attribute(name)
    if not isinstance(shardings, ShardingPerValue):
        return
    kept = list(shardings)
    kept[index] = _open(kept[index])
    if all(sharding is _open(sharding) for sharding in kept):
        rewriter.remove_attribute(op, name)
    else:
        rewriter.set_attribute(op, name, ShardingPerValue(tuple(kept)))


def _open(sharding: TensorSharding) -> TensorSharding:
    """The fully open sharding of the same rank and mesh."""
    return fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=False)


def _sharding_attribute_name(op: Op) -> str:
    """The attribute that stores the sharding of the only result of an sdy operation."""
    return "sharding" if "sharding" in op.fields else "out_sharding"


def _set_one(
    op: Op, name: str, values: Sequence[Value], index: int, sharding: TensorSharding, rewriter: Rewriter
) -> None:
    """Sets one of the shardings of `values`, which one attribute stores."""
    shardings = _all_shardings(op.attribute(name), values, sharding)
    shardings[index] = sharding
    rewriter.set_attribute(op, name, ShardingPerValue(tuple(shardings)))


def _all_shardings(
    attribute: Attribute | None, values: Sequence[Value], like: TensorSharding
) -> list[TensorSharding]:
    if isinstance(attribute, ShardingPerValue) and len(attribute):
        return list(attribute)
    return [fully_replicated(rank_of(value.type), like.mesh_or_ref, is_closed=False) for value in values]
