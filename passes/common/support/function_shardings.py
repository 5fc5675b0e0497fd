"""The shardings that a function declares for its arguments and its results, and how to change them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.mesh_op import mesh_of
from sdyopt.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import rank_of
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import Type


def argument_shardings(function: FuncOp) -> ShardingPerValue | None:
    """The shardings of all arguments, open ones for those that have none; None if there is nothing to say."""
    return _completed(function, function.argument_attributes, function.function_type.inputs)


def result_shardings(function: FuncOp) -> ShardingPerValue | None:
    """The shardings of all results, open ones for those that have none; None if there is nothing to say."""
    return _completed(function, function.result_attributes, function.function_type.results)


def transform_signature(
    function: FuncOp, transform: Callable[[TensorSharding, Type], TensorSharding], rewriter: Rewriter
) -> None:
    """Puts `transform(sharding, type)` in place of every sharding of an argument or result."""
    signature = function.function_type
    for attributes, types, set_attribute in (
        (function.argument_attributes, signature.inputs, rewriter.set_argument_attribute),
        (function.result_attributes, signature.results, rewriter.set_result_attribute),
    ):
        for index, type in enumerate(types):
            sharding = _sharding(attributes[index])
            if sharding is not None:
                set_attribute(function, index, SHARDING, transform(sharding, type))


def _completed(
    function: FuncOp, attributes: Sequence[DictAttr], types: Sequence[Type]
) -> ShardingPerValue | None:
    given = [_sharding(held) for held in attributes]
    # That a value lives on one device says nothing about how others are split.
    spread = (sharding for sharding in given if sharding is not None and not _is_maximal(sharding, function))
    first = next(spread, None)
    if first is None:
        return None
    mesh = first.mesh_or_ref
    return ShardingPerValue(
        tuple(
            [
                fully_replicated(rank_of(type), mesh, is_closed=False) if sharding is None else sharding
                for sharding, type in zip(given, types, strict=True)
            ]
        )
    )


def _sharding(attributes: DictAttr) -> TensorSharding | None:
    found = attributes.get(SHARDING)
    return found if isinstance(found, TensorSharding) else None


def _is_maximal(sharding: TensorSharding, function: FuncOp) -> bool:
    mesh = mesh_of(sharding, function)
    return mesh is not None and mesh.is_maximal
