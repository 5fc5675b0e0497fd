"""Finds dimensions that must not be sharded: along them an operation needs elements of other shards.

    @crosses_shards(SliceOp)
    def slice(op: SliceOp, types: LocalTypes) -> Iterable[Dim]: ...

By default, this follows from the sharding rule: an operation needs all elements along need-replication and
permutation factors. An operation without a rule needs all elements of all dimensions, and runs on every
device, which is correct for operations without side effects. A function registered with `has_windows` keeps a
dimension sharded if each window over it lies in one shard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import OpOperand
from sdyopt.shardy.partition.local_context import Axes, LocalTypes, OpTable
from sdyopt.shardy.sharding.chlo_rules import chlo_rule_of
from sdyopt.shardy.sharding.op_sharding_rule_registry import derived_rule_of, sharding_rule_of


class Dim(NamedTuple):
    """A dimension of an operand or result: `tensor` counts operands, then results; -1 is the last result."""

    tensor: int
    dim: int


crosses_shards: OpTable[Callable[[Any, LocalTypes], Iterable[Dim]]] = OpTable()


def dims_to_replicate(op: Op, types: LocalTypes, keep_local_windows: bool) -> list[Dim]:
    """The sharded dimensions that must be replicated before the operation can run on shards.

    With `keep_local_windows`, a dimension over which windows slide stays sharded if each lies in one shard.
    """
    if op.is_terminator or op.data_flow is not None or isinstance(op, CallOp):
        return [
            dim for dim in _dims_without_edge(op) if types.axes_per_dim(op.operand_at(dim.tensor))[dim.dim]
        ]
    key = op.signature, op.attributes, *map(types.sharding, op.operands), keep_local_windows
    dims = types.dims_to_replicate.get(key)
    if dims is None:
        dims = types.dims_to_replicate[key] = tuple(_find_dims(op, types, keep_local_windows))
    return [Dim(*dim) for dim in dims]


def _dims_without_edge(op: Op) -> Iterator[Dim]:
    """The dimensions of operands of a region's operation, a terminator or a branch that have no edge.

    What stands for them inside or outside is not sharded, because shardings do not propagate there.
    """
    outer = op.parent_op if op.data_flow is None else op
    sources: set[OpOperand] = set()
    if outer is not None and outer.data_flow is not None:
        edges = outer.data_flow
        sources = {use for owner in edges.owners(outer) for use in edges.sources(outer, owner)}
    elif not op.successors:
        return
    for use in op.operand_uses:
        if use not in sources and isinstance(use.value.type, RankedTensor):
            yield from (Dim(use.index, dim) for dim in range(use.value.type.rank))


def _find_dims(op: Op, types: LocalTypes, keep_local_windows: bool) -> list[Dim]:
    """The dimensions to replicate, which follow from the signature, the attributes and operand shardings."""
    axes = [types.axes_per_dim(value) for value in (*op.operands, *op.results)]
    if not any(map(any, axes)):
        return []
    find = crosses_shards.get(type(op)) or by_rule
    if has_different_meshes(op, types) or (has_user_rule(op) and not isinstance(op, CustomCallOp)):
        find = _everything
    elif crosses_shards.has(type(op), "has_windows") and not keep_local_windows:
        find = by_rule
    dims = [*find(op, types), *_differently_sharded(op, axes)]
    return [dim for dim in dict.fromkeys(dims) if axes[dim.tensor][dim.dim]]


def _everything(op: Op, types: LocalTypes) -> Iterator[Dim]:
    return all_dims(op)


def has_user_rule(op: Op) -> bool:
    """Whether the rule was written by the user, and so may not describe what the operation needs."""
    rule = op.attributes.get(SHARDING_RULE)
    if not isinstance(rule, OpShardingRule) or rule is chlo_rule_of(op):
        return False
    derived = derived_rule_of(op)
    if rule is derived and not rule.is_custom:
        return False
    if rule.is_custom or derived is None or not isinstance(op, ConvolutionOp):
        return True
    # Earlier releases have other factors for windows for which the input leaves no room.
    return _shared(rule) != _shared(derived)


def _shared(rule: OpShardingRule) -> object:
    """The factors that several dimensions have, numbered in the order of the dimensions, and their types."""
    counts = Counter(factor for tensor in rule.tensors for dim in tensor.dims for factor in dim.factors)
    numbers: dict[int, int] = {}
    dims = [
        [
            [numbers.setdefault(factor, len(numbers)) for factor in dim.factors if counts[factor] > 1]
            for dim in tensor.dims
        ]
        for tensor in rule.tensors
    ]
    types = (rule.reduction, rule.need_replication, rule.permutation, rule.blocked_propagation)
    return dims, [sorted(numbers[factor] for factor in type if factor in numbers) for type in types]


def _differently_sharded(op: Op, axes: Sequence[Sequence[Axes]]) -> Iterator[Dim]:
    """The dimensions with a factor that is sharded differently in another tensor.

    `sdy-insert-explicit-reshards` leaves such factors if an axis is larger than a dimension. Reduction
    factors are not changed, because the all-reduce that follows would add whole results.
    """
    rule = sharding_rule_of(op)
    if rule is None:
        return
    axes_of: dict[tuple[int, ...], Axes] = {}
    different: set[int] = set()
    for mapping, axes_per_dim in zip(rule.tensors, axes, strict=True):
        for dim_mapping, dim_axes in zip(mapping.dims, axes_per_dim, strict=False):
            factors = dim_mapping.factors
            if len(factors) == 1 and axes_of.setdefault(factors, dim_axes) != dim_axes:
                different.update(factors)
    different.difference_update(rule.reduction)
    if different:
        yield from dims_with_factors(rule, different)


def has_different_meshes(op: Op, types: LocalTypes) -> bool:
    """Whether sharded operands and results are on different meshes, or any on meshes with different axes.

    Explicit reshards do not change an operation of the second kind, and do not all-reduce its results.
    """
    shardings = [types.sharding(value) for value in (*op.operands, *op.results)]
    with_meshes = [(sharding, types.mesh(sharding)) for sharding in shardings if sharding is not None]
    sharded = {mesh for sharding, mesh in with_meshes if not sharding.is_fully_replicated}
    axes = {mesh.axes for _, mesh in with_meshes if mesh is not None and not mesh.is_empty}
    return len(sharded) > 1 or len(axes) > 1


def by_rule(op: Op, types: LocalTypes) -> Iterator[Dim]:
    """The dimensions with need-replication or permutation factors; all without a rule."""
    rule = sharding_rule_of(op)
    if rule is None:
        yield from all_dims(op)
    else:
        yield from dims_with_factors(rule, {*rule.need_replication, *rule.permutation})


def dims_with_factors(rule: OpShardingRule, factors: Iterable[int]) -> Iterator[Dim]:
    """The dimensions that have one of these factors."""
    factors = set(factors)
    for number, mapping in enumerate(rule.tensors):
        for dim, dim_mapping in enumerate(mapping.dims):
            if factors.intersection(dim_mapping.factors):
                yield Dim(number, dim)


def all_dims(op: Op) -> Iterator[Dim]:
    """All dimensions of all operands and results."""
    for number, value in enumerate((*op.operands, *op.results)):
        if isinstance(value.type, RankedTensor):
            yield from (Dim(number, dim) for dim in range(value.type.rank))


def both(dim: int) -> Iterator[Dim]:
    """A dimension of the first operand, and of the last result."""
    yield Dim(0, dim)
    yield Dim(-1, dim)
