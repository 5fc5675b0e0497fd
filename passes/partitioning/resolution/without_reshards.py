"""Operations whose operands were gathered for them, although halos are enough.

By its sharding rule a concatenation needs whole operands, so `sdy-insert-explicit-reshards` gathers them, and
slices the result. If halos are smaller, these reshards are removed: the operation gets the sharded operands
and has the sharded result.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.sharded_body import HaloContext, exchange_halos, may_be_sharded_more


def exchange_instead_of_reshards(op: Op, context: HaloContext) -> bool:
    """Exchanges halos in place of the reshards around an operation; returns whether it did so."""
    if not may_be_sharded_more(op) or len(op.results) != 1:
        return False
    gathers = [gather_of(value, op, context.types) for value in op.operands]
    slices = _slices_of(op, context.types)
    if not any(gathers) and not slices:
        return False
    rewriter, operands, sharding = context.rewriter, op.operands, op.attributes.get(SHARDING)
    inputs = [
        value if gather is None else gather.input for value, gather in zip(operands, gathers, strict=True)
    ]
    rewriter.set_operands(op, inputs)
    if slices:
        rewriter.set_attribute(op, SHARDING, ShardingPerValue((slices[0].sharding,)))
    values = exchange_halos(op, context)
    if values is None:
        rewriter.set_operands(op, operands)
        if slices and sharding is not None:
            rewriter.set_attribute(op, SHARDING, sharding)
        return False
    for each in slices:
        rewriter.replace(each, values)
    rewriter.replace(op, values)
    erase_unused([gather for gather in gathers if gather is not None], rewriter)
    return True


def erase_unused(ops: Sequence[Op], rewriter: Rewriter) -> None:
    """Erases those of these operations whose results are not used."""
    for op in dict.fromkeys(ops):
        if not any(result.has_uses for result in op.results):
            rewriter.erase(op)


def gather_of(value: Value, op: Op, types: LocalTypes) -> ReshardOp | None:
    """The reshard that computes an operand, if it only removes axes and only this operation uses it."""
    reshard = value.defining_op
    if not isinstance(reshard, ReshardOp) or any(use.owner is not op for use in value.uses):
        return None
    before = types.sharding(reshard.input)
    return reshard if before is not None and _is_prefix(reshard.sharding, before) else None


def _slices_of(op: Op, types: LocalTypes) -> Sequence[ReshardOp]:
    """The users of the result, if they are reshards to one sharding that only adds axes."""
    owners = [use.owner for use in op.results[0].uses]
    slices = [owner for owner in owners if isinstance(owner, ReshardOp)]
    before = types.sharding(op.results[0])
    if before is None or not slices or len(slices) != len(owners):
        return []
    is_same = all(each.sharding is slices[0].sharding for each in slices)
    return slices if is_same and _is_prefix(before, slices[0].sharding) else []


def _is_prefix(fewer: TensorSharding, more: TensorSharding) -> bool:
    """Whether the axes of each dimension in `fewer` are a prefix of those in `more`."""
    if fewer.mesh_or_ref is not more.mesh_or_ref or fewer.rank != more.rank:
        return False
    if fewer.unreduced_axes or more.unreduced_axes:
        return False
    return all(
        dim.axes == other.axes[: len(dim.axes)] for dim, other in zip(fewer.dims, more.dims, strict=True)
    )
