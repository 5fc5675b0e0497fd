"""How the partial results of an operation are combined, by its body or as its sharding rule declares.

    stablehlo.reduce with stablehlo.maximum   max
    stablehlo.scatter with stablehlo.add      sum

The operation that defines a value which the body returns decides, whatever its operands are, as in Shardy.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MaxOp, MinOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.sharding.op_sharding_rule_builder import Reduction
from sdyopt.shardy.sharding.op_sharding_rule_registry import reduction_of

_KINDS: dict[type[Op] | None, ReductionKind] = {
    AddOp: ReductionKind.SUM,
    MaxOp: ReductionKind.MAX,
    MinOp: ReductionKind.MIN,
}
# Products, like other reductions without a kind of their own, count as sums until they are partitioned.
_DECLARED_KINDS = {Reduction.MAX: ReductionKind.MAX, Reduction.MIN: ReductionKind.MIN}


def reduction_kind(op: Op) -> ReductionKind | None:
    """The kind of reduction that combines the partial results of an operation.

    None if it has no single kind, such as an argmax, a reduction of several values: partitioning combines the
    partial results as the body does. A reduction of one value by any other body counts as a sum, except in
    jaxlib 0.11.2; partitioning knows better.
    """
    if not isinstance(op, ReduceOp | ScatterOp):
        declared = reduction_of(op)
        return ReductionKind.SUM if declared is None else _DECLARED_KINDS.get(declared, ReductionKind.SUM)
    kinds = {_KINDS.get(combiner) for combiner in _combiners(op)}
    kind = kinds.pop() if len(kinds) == 1 else None
    is_single = isinstance(op, ReduceOp) and len(op.results) == 1
    if kind is None and is_single and Behavior.REDUCTIONS_OF_NO_KIND.active:
        return ReductionKind.SUM
    return kind


def _combiners(op: ReduceOp | ScatterOp) -> set[type[Op] | None]:
    """The classes of the operations that define what the body returns; None for an argument of it."""
    (region,) = op.regions
    terminator = None if region.entry is None else region.entry.last
    values = () if terminator is None else terminator.operands
    return {None if value.defining_op is None else type(value.defining_op) for value in values}
