"""How to give a value a sharding, wherever it is kept."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.dialects.sdy.interfaces import ShardingOwner
from sdyopt.dialects.sdy.manual_axes import with_manual_axes
from sdyopt.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import owning_op, rank_of, shardable_value
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import FUNCTION
from sdyopt.ir.value import BlockArgument, Value


def set_sharding(value: Value, sharding: TensorSharding, rewriter: Rewriter) -> None:
    """Gives a value a sharding; where there is no place to keep one, nothing happens.

    If the operation has other values that have no sharding yet, those get open ones.
    """
    held = shardable_value(value)
    if held is None:
        return
    op, index = owning_op(held), held.index
    if FUNCTION in op.traits:
        rewriter.set_argument_attribute(op, index, SHARDING, sharding)
    elif isinstance(op, ManualComputationOp | NamedComputationOp):
        is_inside = isinstance(held, BlockArgument)
        if is_inside and isinstance(op, ManualComputationOp):
            sharding = with_manual_axes(sharding, op.in_shardings.shardings[index], op.manual_axes)
        name, values = ("in_shardings", op.operands) if is_inside else ("out_shardings", op.results)
        _set_one(op, name, values, index, sharding, rewriter)
    elif isinstance(op, ShardingOwner):
        rewriter.set_attribute(op, _only_sharding(op), sharding)
    else:
        _set_one(op, SHARDING, op.results, index, sharding, rewriter)


def _only_sharding(op: Op) -> str:
    """The attribute in which an operation with one result keeps its sharding."""
    return "sharding" if "sharding" in op.fields else "out_sharding"


def _set_one(
    op: Op, name: str, values: Sequence[Value], index: int, sharding: TensorSharding, rewriter: Rewriter
) -> None:
    """Sets one of the shardings of `values`, which are all kept in one attribute."""
    shardings = _all_shardings(op.attribute(name), values, sharding)
    shardings[index] = sharding
    rewriter.set_attribute(op, name, ShardingPerValue(tuple(shardings)))


def _all_shardings(
    held: Attribute | None, values: Sequence[Value], like: TensorSharding
) -> list[TensorSharding]:
    if isinstance(held, ShardingPerValue) and len(held):
        return list(held)
    return [fully_replicated(rank_of(value.type), like.mesh_or_ref, is_closed=False) for value in values]
