"""The argument and result shardings of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import Type
from sdyopt.shardy.record import Truncation, record_truncation


def argument_shardings(function: FuncOp) -> ShardingPerValue | None:
    """The shardings of all arguments, fully open for those without one.

    None if no argument has one, or only ones with maximal meshes.
    """
    return _completed(function, function.argument_attributes, function.function_type.inputs)


def result_shardings(function: FuncOp) -> ShardingPerValue | None:
    """The shardings of all results, fully open for those without one.

    None if no result has one, or only ones with maximal meshes.
    """
    return _completed(function, function.result_attributes, function.function_type.results)


def transform_function_shardings(
    function: FuncOp,
    transform: Callable[[TensorSharding, Type], TensorSharding],
    rewriter: Rewriter,
    why: Truncation,
) -> None:
    """Replaces every sharding of an argument or result with `transform(sharding, type)`.

    The transformed sharding must be a prefix of the old one.
    """
    signature = function.function_type
    for is_result, attributes, types, set_attribute in (
        (False, function.argument_attributes, signature.inputs, rewriter.set_argument_attribute),
        (True, function.result_attributes, signature.results, rewriter.set_result_attribute),
    ):
        for index, type in enumerate(types):
            sharding = _sharding(attributes[index])
            if sharding is None:
                continue
            new = transform(sharding, type)
            if new is not sharding:
                record_truncation(function, index, is_result, new, why)
            set_attribute(function, index, SHARDING, new)


def _completed(
    function: FuncOp, attributes: Sequence[DictAttr], types: Sequence[Type]
) -> ShardingPerValue | None:
    shardings = [_sharding(dictionary) for dictionary in attributes]
    # Values without a sharding get the mesh of another one, but not a maximal mesh.
    candidates = (
        sharding for sharding in shardings if sharding is not None and not is_maximal(sharding, function)
    )
    first = next(candidates, None)
    if first is None:
        return None
    mesh = first.mesh_or_ref
    return ShardingPerValue(
        tuple(
            [
                fully_replicated(rank_of(type), mesh, is_closed=False) if sharding is None else sharding
                for sharding, type in zip(shardings, types, strict=True)
            ]
        )
    )


def _sharding(attributes: DictAttr) -> TensorSharding | None:
    sharding = attributes.get(SHARDING)
    return sharding if isinstance(sharding, TensorSharding) else None


def is_maximal(sharding: TensorSharding, function: FuncOp) -> bool:
    """Whether a sharding in a function is on a single device."""
    mesh = mesh_of(sharding, function)
    return mesh is not None and mesh.is_maximal
