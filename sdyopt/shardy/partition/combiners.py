"""The combination of partial results of several devices.

An operation whose reduced dimension is sharded has a partial result on each device. The collective after it
combines them by the operation's own kind of reduction: the maximum of partial maxima, not their sum. The
operation's body or its sharding rule has the kind. A collective may also name it: `sdy.all_reduce max`.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, MaxOp, MinOp, MulOp, OrOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, element_of
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import Reduction
from sdyopt.shardy.sharding.op_sharding_rule_registry import reduction_of

# The reducers that all backends support in collectives; `and` and `or` on booleans only.
_SUPPORTED = (AddOp, MulOp, MaxOp, MinOp)
_SUPPORTED_ON_BOOLEANS = (AndOp, OrOp, *_SUPPORTED)


# `sum` is missing because it is also the default: a collective with `sum` may need another combiner.
_COMBINERS: dict[ReductionKind, type[Op]] = {ReductionKind.MAX: MaxOp, ReductionKind.MIN: MinOp}
_DECLARED: dict[Reduction | None, type[Op]] = {
    Reduction.MAX: MaxOp,
    Reduction.MIN: MinOp,
    Reduction.MUL: MulOp,
    Reduction.AND: AndOp,
    Reduction.OR: OrOp,
}


def combiner_of(collective: AllReduceOp | ReduceScatterOp) -> type[Op] | None:
    """The operation that combines the partial results of a collective's operand; by default, addition.

    None if no single collective can combine them, such as the results of a reduction that combines several
    values together.
    """
    if (combiner := _COMBINERS.get(collective.reduction_op)) is not None:
        return combiner
    value = collective.tensor
    origin = origin_of_partial_results(value)
    op = origin.defining_op
    if isinstance(op, ReduceOp | ScatterOp):
        assert isinstance(origin, OpResult)
        combiner = binary_body(op.regions[0], origin.index)
        supported = _SUPPORTED_ON_BOOLEANS if element_of(value.type) is I1 else _SUPPORTED
        return combiner if combiner in supported else None
    return AddOp if op is None else _DECLARED.get(reduction_of(op), AddOp)


def origin_of_partial_results(value: Value) -> Value:
    """Follows `value` back through reductions along other axes, and the padding and slices between them."""
    op = value.defining_op
    while isinstance(op, AllReduceOp | ReduceScatterOp | PadOp | SliceOp):
        value = op.operand_at(0)
        op = value.defining_op
    return value


def binary_body(region: Region, index: int) -> type[Op] | None:
    """The binary operation by which a region combines the two arguments that belong to one result.

    None if the region computes this result in another way.
    """
    (block,) = region.blocks
    returned = block.last
    assert returned is not None
    count = len(block.arguments) // 2
    op = returned.operand_at(index).defining_op
    if op is None or len(op.results) != 1 or len(op.operands) != 2:
        return None
    arguments = [block.arguments[index], block.arguments[index + count]]
    return type(op) if op.operands in (arguments, arguments[::-1]) else None
