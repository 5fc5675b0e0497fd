"""Sharding rules of the operations that put elements together, or in order."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.dialects.stablehlo.window import pairs_of
from sdyopt.ir.form import Form
from sdyopt.sharding.builder import Kind, RuleBuilder
from sdyopt.sharding.rule import sharding_rule


@sharding_rule(ReduceOp)
def reduce(form: Form, rule: RuleBuilder) -> None:
    """([i, j], [])->([i]) reduction={j}"""
    count = len(form.inputs)
    result_dim = 0
    for dim, size in enumerate(form.inputs[0].shape):
        operand_dims = [dim] * count + [None] * count
        if dim in form.dimensions:
            rule.factor(size, operand_dims, [None] * count, Kind.REDUCTION)
        else:
            rule.factor(size, operand_dims, [result_dim] * count)
            result_dim += 1


@sharding_rule(ReduceWindowOp)
def reduce_window(form: Form, rule: RuleBuilder) -> None:
    """([i, j], [])->([i, j]) permutation={j}: j is as many windows as there are, at most partly apart"""
    for dim, size in enumerate(form.out[0].shape):
        if _is_window_of_one(form, dim):
            rule.common_factor(dim, size)
        else:
            rule.common_factor(dim, size, Kind.PERMUTATION, is_blocked=rule.is_conservative)


@sharding_rule(SelectAndScatterOp)
def select_and_scatter(form: Form, rule: RuleBuilder) -> None:
    """([i, k], [i, j], [])->([i, k]) need_replication={j} permutation={k}: j are windows, of the source"""
    for dim, size in enumerate(form.out.shape):
        if _is_window_of_one(form, dim):
            rule.common_factor(dim, size)
            continue
        is_blocked = rule.is_conservative
        source_size = form.source.shape[dim]
        rule.factor(source_size, [None, dim, None], [None], Kind.NEED_REPLICATION, is_blocked)
        rule.factor(size, [dim, None, None], [dim], Kind.PERMUTATION, is_blocked)


@sharding_rule(SortOp)
def sort(form: Form, rule: RuleBuilder) -> None:
    """([i, j], [i, j])->([i, j], [i, j]) need_replication={j}

    Propagation is blocked along the dimension that is sorted if that is the only one of any size.
    """
    shape = form.inputs[0].shape
    is_blocked = all(dim == form.dimension or size == 1 for dim, size in enumerate(shape))
    for dim, size in enumerate(shape):
        if dim == form.dimension:
            rule.common_factor(dim, size, Kind.NEED_REPLICATION, is_blocked)
        else:
            rule.common_factor(dim, size)


def _is_window_of_one(form: Form, dim: int) -> bool:
    """Whether the window is a single element along a dimension, and moves on by one."""
    if form.padding is not None and any(pairs_of(form.padding)[dim]):
        return False
    return all(not sizes or sizes[dim] == 1 for sizes in (form.window_dimensions, form.window_strides))
