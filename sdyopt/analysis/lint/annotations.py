"""The shardings of function arguments, function results and constraints, and where their text is."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.error_help.table import Narrowing, argument, attribute, result
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, nested_attributes
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.value_names import argument_text, result_text


class LocatedSharding(NamedTuple):
    """A sharding at an operation. `what` describes the value of this `type` that it shards.

    `steps` lead to the text of the sharding in the statement of `op`.
    """

    op: Op
    what: str
    type: Type
    sharding: TensorSharding
    steps: tuple[Narrowing, ...] = ()


def boundary_annotations(functions: list[FuncOp]) -> Iterator[LocatedSharding]:
    """The shardings of the arguments and results of functions."""
    for function in functions:
        lists = (
            (argument_text, function.argument_attributes, function.function_type.inputs, argument),
            (result_text, function.result_attributes, function.function_type.results, result),
        )
        for text, attributes, types, step in lists:
            for number, (dictionary, type) in enumerate(zip(attributes, types, strict=True)):
                sharding = dictionary.get(SHARDING)
                if isinstance(sharding, TensorSharding):
                    steps = (step(number), attribute(SHARDING))
                    yield LocatedSharding(function, text(function, number), type, sharding, steps)


def constraints(module: Op) -> Iterator[LocatedSharding]:
    """The shardings of constraints."""
    for op in module.walk():
        if isinstance(op, ShardingConstraintOp):
            yield LocatedSharding(op, "the constrained value", op.input.type, op.sharding)


def shardings_in(module: Op) -> Iterator[TensorSharding]:
    """The shardings in the attributes of all operations, arguments and function results, in program order."""
    shardings_by_dictionary: dict[DictAttr, tuple[TensorSharding, ...]] = {}
    for op in module.walk():
        for attributes in _dictionaries(op):
            if attributes not in shardings_by_dictionary:
                shardings_by_dictionary[attributes] = tuple(
                    op for op in _nested(attributes) if isinstance(op, TensorSharding)
                )
            yield from shardings_by_dictionary[attributes]


def _dictionaries(op: Op) -> Iterator[DictAttr]:
    yield op.signature.attributes
    yield op.attributes
    if isinstance(op, FuncOp):
        yield from op.argument_attributes
        yield from op.result_attributes


def _nested(attributes: DictAttr) -> Iterator[Attribute]:
    for _, value in attributes.entries:
        yield from nested_attributes(value)
