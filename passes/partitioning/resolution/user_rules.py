"""All-reduces of results that are partial by a sharding rule in the program, but are computed whole.

    %1 = stablehlo.sine %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) … reduction={k}>}
    %2 = sdy.all_reduce {"x"} %1 …

A sine sums nothing. If %0 is sharded along "x" by `k`, it is gathered, and the all-reduce, which
`sdy-insert-explicit-reshards` inserts by the rule, would add copies of the result. It is removed, with a
warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdyopt.dialects.sdy.attribute_names import SHARDING_RULE
from sdyopt.dialects.sdy.axes import AxisRef, difference
from sdyopt.dialects.sdy.axis_lists import AxisRefList
from sdyopt.dialects.sdy.collectives import AllReduceOp
from sdyopt.dialects.sdy.rule import OpShardingRule, factor_symbol
from sdyopt.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import Value
from sdyopt.partition.local_types import LocalTypes
from sdyopt.partition.replication import dims_to_replicate, has_user_rule


def drop_sums_of_copies(ops: Iterable[Op], types: LocalTypes, rewriter: Rewriter) -> None:
    """Removes the axes of replicated reduction factors from the all-reduces of results."""
    for op in ops:
        rule = op.attributes.get(SHARDING_RULE)
        if not isinstance(rule, OpShardingRule) or not rule.reduction:
            continue
        if isinstance(op, CustomCallOp) or has_user_rule(op):
            axes = tuple(dict.fromkeys(_axes_of_replicated_sums(op, rule, types)))
            all_reduces = _all_reduces_along(op, axes, types)
            for each in all_reduces:
                _remove_axes(each, axes, types, rewriter)
            if all_reduces:
                _warn(op, rule)


def _axes_of_replicated_sums(op: Op, rule: OpShardingRule, types: LocalTypes) -> Iterator[AxisRef]:
    """The axes of the dimensions of operands that have reduction factors, and that must be replicated."""
    for each in dims_to_replicate(op, types, keep_local_windows=True):
        if each.tensor < len(op.operands):
            factors = rule.operands[each.tensor].dims[each.dim].factors
            if set(rule.reduction).intersection(factors):
                yield from types.axes_per_dim(op.operand_at(each.tensor))[each.dim]


def _all_reduces_along(op: Op, axes: Sequence[AxisRef], types: LocalTypes) -> list[AllReduceOp]:
    """The all-reduces of results along some of these axes."""
    users = [use.owner for result in op.results for use in result.uses] if axes else []
    return [each for each in users if isinstance(each, AllReduceOp) and _kept(each, axes, types) is not None]


def _kept(op: AllReduceOp, axes: Sequence[AxisRef], types: LocalTypes) -> Sequence[AxisRef] | None:
    """The axes of an all-reduce that are none of these; None if all of its axes are kept."""
    mesh = types.mesh(op.out_sharding)
    assert mesh is not None
    kept = difference(op.reduction_axes.axes, axes, mesh)
    return None if kept == tuple(op.reduction_axes.axes) else kept


def _remove_axes(op: AllReduceOp, axes: Sequence[AxisRef], types: LocalTypes, rewriter: Rewriter) -> None:
    kept = _kept(op, axes, types)
    if kept:
        rewriter.set_attribute(op, "reduction_axes", AxisRefList(tuple(kept)))
    else:
        values: list[Value] = [op.tensor]
        rewriter.replace(op, values)


def _warn(op: Op, rule: OpShardingRule) -> None:
    factors = ", ".join(map(factor_symbol, rule.reduction))
    op.warning(
        f"operands are replicated along the reduction factors {{{factors}}} of the sharding rule, "
        "so no all-reduce of the results follows",
        help=""
        if isinstance(op, CustomCallOp)
        else "without `sdy.sharding_rule`, the operation's own rule is used",
    )
