"""Which dimensions of an operation must not be sharded, because no lowering can cross their shards.

    @crosses_shards(SliceOp)
    def slice(op: SliceOp, sharded: Shardings) -> Iterable[Dim]: ...

The default is that of the sharding rule: an operation needs all elements along need-replication and
permutation factors. An operation without a rule needs all elements of all dimensions, and is run on every
device: that is always right for operations without effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from sdyopt.dialects.func import CallOp
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.ir.operation import Op
from sdyopt.ir.types import RankedTensor
from sdyopt.partition.local_types import LocalTypes
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of


class Dim(NamedTuple):
    """A dimension of an operand or result: operands are numbered before results. -1 is the last result."""

    tensor: int
    dim: int


Crossing = Callable[[Any, LocalTypes], Iterable[Dim]]
C = TypeVar("C", bound=Crossing)

_crossings: dict[type[Op], Crossing] = {}
_windows: set[Crossing] = set()


def crosses_shards(*op_classes: type[Op], has_windows: bool = False) -> Callable[[C], C]:
    """Registers the function that finds the dimensions of operations of these classes."""

    def register(function: C) -> C:
        for op_class in op_classes:
            assert op_class not in _crossings, f"{op_class.name} is registered twice"
            _crossings[op_class] = function
        if has_windows:
            _windows.add(function)
        return function

    return register


def dims_to_replicate(op: Op, types: LocalTypes, keep_local_windows: bool = True) -> list[Dim]:
    """The sharded dimensions of an operation whose shards it cannot be run on.

    With `keep_local_windows`, windows may be sharded that lie in one shard each.
    """
    if op.is_terminator or op.data_flow is not None or isinstance(op, CallOp):
        return []
    values = (*op.operands, *op.results)
    axes = [types.axes_per_dim(value) for value in values]
    if not any(map(any, axes)):
        return []
    if _has_different_meshes(op, types):
        return [each for each in all_dims(op) if axes[each.tensor][each.dim]]
    _load_crossings()
    find = _crossings.get(type(op), by_rule)
    if find in _windows and not keep_local_windows:
        find = by_rule
    return [each for each in find(op, types) if axes[each.tensor][each.dim]]


def _has_different_meshes(op: Op, types: LocalTypes) -> bool:
    """Whether sharded operands and results are on different meshes."""
    shardings = (types.sharding(value) for value in (*op.operands, *op.results))
    meshes = {types.mesh(each) for each in shardings if each is not None and not each.is_fully_replicated}
    return len(meshes) > 1


def by_rule(op: Op, types: LocalTypes) -> Iterator[Dim]:
    """The dimensions with need-replication or permutation factors; all without a rule."""
    rule = sharding_rule_of(op)
    if rule is None:
        yield from all_dims(op)
    else:
        yield from dims_with_factors(rule, {*rule.need_replication, *rule.permutation})


def dims_with_factors(rule: OpShardingRule, factors: Iterable[int]) -> Iterator[Dim]:
    """The dimensions that have one of these factors."""
    wanted = set(factors)
    for number, mapping in enumerate(rule.tensors):
        for dim, dim_mapping in enumerate(mapping.dims):
            if wanted.intersection(dim_mapping.factors):
                yield Dim(number, dim)


def all_dims(op: Op) -> Iterator[Dim]:
    """All dimensions of all operands and results."""
    for number, value in enumerate((*op.operands, *op.results)):
        if isinstance(value.type, RankedTensor):
            yield from (Dim(number, dim) for dim in range(value.type.rank))


@cache
def _load_crossings() -> None:
    """Imports the tables at their first use, not at start-up."""
    import_module("sdyopt.partition.crossings")
