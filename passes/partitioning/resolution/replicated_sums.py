"""All-reduces of results that are not partial any more: dimensions with reduction factors are replicated.

    %1 = stablehlo.sine %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) … reduction={k}>}
    %2 = sdy.all_reduce {"x"} %1 …

`sdy-insert-explicit-reshards` inserts the all-reduce by the rule, if %0 is sharded along "x" by `k`. But a
sine sums nothing, so %0 is gathered, and the all-reduce would add copies of the result. It is removed, and
the mark that the result is unreduced, too. If the rule was written by the user, there is a warning.

If a result marked so has other uses, which expect partial results, the all-reduce is kept: the copies become
parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, AxisRefList, difference
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, factor_symbol
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_context import Axes, LocalTypes
from sdyopt.shardy.partition.operations.convolution import replicates_sums_of_groups
from sdyopt.shardy.partition.replication import dims_to_replicate, has_user_rule
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


def drop_sums_of_copies(module: ModuleOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Removes the axes of replicated reduction factors from the all-reduces of results."""
    reduced = (op.tensor.defining_op for op in module.nested(AllReduceOp))
    for op in dict.fromkeys(op for op in reduced if op is not None):
        all_reduces = [
            use.owner for result in op.results for use in result.uses if isinstance(use.owner, AllReduceOp)
        ]
        if all_reduces and _may_replicate_sums(op, types):
            rule = sharding_rule_of(op)
            if rule is not None:
                _drop_sums(op, rule, all_reduces, types, rewriter)


def _may_replicate_sums(op: Op, types: LocalTypes) -> bool:
    if isinstance(op, ConvolutionOp) and replicates_sums_of_groups(op, types):
        return True
    if isinstance(op, ScatterOp) and not op.scatter_dimension_numbers.scatter_dims_to_operand_dims:
        return True
    return isinstance(op, CustomCallOp) or has_user_rule(op)


def _drop_sums(
    op: Op, rule: OpShardingRule, all_reduces: Sequence[AllReduceOp], types: LocalTypes, rewriter: Rewriter
) -> None:
    replicated, others = _axes_of_replicated_sums(op, rule, types)
    has_changed = False
    for all_reduce in all_reduces:
        mesh = types.mesh(all_reduce.out_sharding)
        assert mesh is not None
        dropped = difference(replicated, others, mesh)
        before = tuple(all_reduce.reduction_axes.axes)
        kept = difference(before, dropped, mesh)
        if kept == before or not _mark_whole(all_reduce.tensor, dropped, types, rewriter):
            continue
        if kept:
            rewriter.set_attribute(all_reduce, "reduction_axes", AxisRefList(kept))
        else:
            rewriter.replace(all_reduce, [all_reduce.tensor])
        has_changed = True
    if has_changed and (isinstance(op, CustomCallOp) or has_user_rule(op)):
        _warn(op, rule)


def _mark_whole(value: Value, axes: Axes, types: LocalTypes, rewriter: Rewriter) -> bool:
    """Marks a value as not unreduced along some axes; returns false if other uses expect partial results."""
    sharding = types.sharding(value)
    mesh = None if sharding is None else types.mesh(sharding)
    if sharding is None or mesh is None:
        return True
    kept = difference(sharding.unreduced_axes, axes, mesh)
    if kept == sharding.unreduced_axes:
        return True
    if not all(isinstance(use.owner, AllReduceOp) for use in value.uses):
        return False
    set_sharding(value, sharding.with_unreduced_axes(kept), rewriter)
    return True


def _axes_of_replicated_sums(op: Op, rule: OpShardingRule, types: LocalTypes) -> tuple[Axes, Axes]:
    """The axes of the dimensions with reduction factors that must be replicated, and of the others."""
    to_replicate = set(dims_to_replicate(op, types, keep_local_windows=True))
    replicated: dict[AxisRef, None] = {}
    others: dict[AxisRef, None] = {}
    for number, (value, mapping) in enumerate(zip(op.operands, rule.operands, strict=True)):
        for dim, (axes, dim_mapping) in enumerate(zip(types.axes_per_dim(value), mapping.dims, strict=False)):
            if set(rule.reduction).intersection(dim_mapping.factors):
                (replicated if (number, dim) in to_replicate else others).update(dict.fromkeys(axes))
    return tuple(replicated), tuple(others)


def _warn(op: Op, rule: OpShardingRule) -> None:
    factors = ", ".join(map(factor_symbol, rule.reduction))
    op.warning(
        f"operands are replicated along the reduction factors {{{factors}}} of the sharding rule, "
        "so no all-reduce of the results follows",
        help=""
        if isinstance(op, CustomCallOp)
        else "without `sdy.sharding_rule`, the operation's own rule is used",
    )
