"""The sharding interface: the iteration space of an operation.

`iteration_space_of(op)` returns the iterators of an operation and its indexing maps. They come from the
sharding model of its dialect: a module of `sharding_models` that is named after the namespace and is
imported with the first operation of that dialect. An operation without a model cannot be sharded.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor

from . import sharding_models


class ShardedIterator(Enum):
    """The type of an iterator, which determines how it can be sharded."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    # The iterator cannot be sharded.
    REPLICATED = "replicated"


# The iterator of each dimension; None for a dimension that cannot be sharded.
IndexingMap = tuple[int | None, ...]


@dataclass(frozen=True)
class IterationSpace:
    """The iterators of an operation, and one indexing map per operand and result.

    `is_trivially_shardable`: the operation on shards is the operation itself with local types, as long
    as no reduction iterator is sharded. `requires_iterators`: an empty list of iterators is an error.
    """

    iterator_types: tuple[ShardedIterator, ...]
    operand_maps: tuple[IndexingMap, ...]
    result_maps: tuple[IndexingMap, ...]
    reduction_kind: ReductionKind = ReductionKind.GENERIC
    is_trivially_shardable: bool = True
    requires_iterators: bool = True

    @property
    def reduction_iterators(self) -> list[int]:
        return [
            iterator for iterator, type in enumerate(self.iterator_types) if type is ShardedIterator.REDUCTION
        ]


def elementwise(op: Op) -> IterationSpace | None:
    """One parallel iterator per dimension; None unless all operands and results are ranked tensors."""
    types = [type for type in (*op.operand_types, *op.result_types) if isinstance(type, RankedTensor)]
    if len(types) != len(op.operand_types) + len(op.result_types) or not types:
        return None
    identity = tuple(range(types[0].rank))
    return IterationSpace(
        (ShardedIterator.PARALLEL,) * len(identity),
        (identity,) * len(op.operand_types),
        (identity,) * len(op.result_types),
    )


def splat_constant(op: Op) -> IterationSpace | None:
    """A splat constant can be sharded along every dimension, because all of its shards are equal."""
    type = op.result_types[0]
    if not isinstance(type, RankedTensor):
        return None
    value = constant_value(op)
    is_splat = isinstance(value, DenseElements) and value.is_splat
    iterator_type = ShardedIterator.PARALLEL if is_splat else ShardedIterator.REPLICATED
    identity = tuple(range(type.rank))
    return IterationSpace((iterator_type,) * type.rank, (), (identity,), requires_iterators=False)


ShardingModel = Callable[[Op], IterationSpace | None]


def has_sharding_model(op: Op) -> bool:
    """Whether the operation implements the sharding interface."""
    return _find_model(op) is not None


def iteration_space_of(op: Op) -> IterationSpace | None:
    """The iteration space; None if the operation cannot be sharded, or not with these types."""
    model = _find_model(op)
    return None if model is None else model(op)


def _find_model(op: Op) -> ShardingModel | None:
    find_model = _load_models(op.dialect_name)
    return None if find_model is None else find_model(op)


@cache
def _load_models(namespace: str) -> Callable[[Op], ShardingModel | None] | None:
    """The function `find_model` of a dialect's module; None if there is no such module."""
    if all(module.name != namespace for module in iter_modules(sharding_models.__path__)):
        return None
    find_model: Callable[[Op], ShardingModel | None] = import_module(
        f"{sharding_models.__name__}.{namespace}"
    ).find_model
    return find_model
