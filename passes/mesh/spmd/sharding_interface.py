"""The sharding interface: the iteration space of an operation.

`iteration_space_of(op)` returns the iterators of an operation and its indexing maps. They come from the
sharding model of its dialect: a module of `sharding_models` that is named after the namespace and is
imported with the first operation of that dialect. An operation without a model cannot be sharded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sdyopt.mlir.ir.operation import Op

from . import sharding_models
from .iterator_types import IterationSpace

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
