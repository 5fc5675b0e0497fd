"""Transformation of all shardings of a program.

Most operations store the shardings of their results in the discardable attribute `sdy.sharding`, functions
one per argument and result, and some sdy operations in inherent attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import (
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
)
from sdyopt.mlir.dialects.sdy.value_shardings import IN_SHARDINGS
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

Transform = Callable[[TensorSharding], TensorSharding]


def transform_shardings(root: Op, transform: Transform, rewriter: Rewriter) -> None:
    """Replaces every sharding of `root` and its nested operations with `transform(sharding)`.

    `transform` is called once for each distinct sharding, in pre-order, arguments before results.
    """
    transformer = _Transformer(transform, rewriter)
    for op in root.walk():
        transformer.visit(op)


class _Transformer:
    """Transforms operations. Caches results: a program has few distinct shardings and dictionaries."""

    def __init__(self, transform: Transform, rewriter: Rewriter) -> None:
        self._transform = cache(transform)
        self._dictionary = cache(self._new_dictionary)
        self._rewriter = rewriter

    def visit(self, op: Op) -> None:
        if isinstance(op, FuncOp):
            self._transform_function(op)
        elif isinstance(op, ShardingOwner):
            self._transform_inherent(op)
        else:
            if SHARDING in op.attributes:
                self._rewriter.set_attributes(op, self._dictionary(op.attributes))
            if op.data_flow is not None and (shardings := op.attribute(IN_SHARDINGS)) is not None:
                self._rewriter.set_attribute(op, IN_SHARDINGS, self._new(shardings))

    def _transform_function(self, function: FuncOp) -> None:
        for attributes, set_attribute in (
            (function.argument_attributes, self._rewriter.set_argument_attribute),
            (function.result_attributes, self._rewriter.set_result_attribute),
        ):
            for index, dictionary in enumerate(attributes):
                if SHARDING in dictionary:
                    set_attribute(function, index, SHARDING, self._new(dictionary[SHARDING]))

    def _transform_inherent(self, op: Op) -> None:
        for name, value in op.signature.attributes:
            self._rewriter.set_attribute(op, name, self._new(value))

    def _new_dictionary(self, attributes: DictAttr) -> DictAttr:
        return attributes.with_entry(SHARDING, self._new(attributes[SHARDING]))

    def _new(self, attribute: Attribute) -> Attribute:
        """An attribute with transformed shardings; attributes of other kinds unchanged."""
        if isinstance(attribute, TensorSharding):
            return self._transform(attribute)
        if isinstance(attribute, ShardingPerValue):
            return ShardingPerValue(tuple([self._transform(sharding) for sharding in attribute]))
        return attribute


def directly_after_definition(value: Value) -> InsertionPoint:
    """Directly after the definition of a value, and before operations that were inserted there earlier."""
    if isinstance(value, BlockArgument):
        return {"at_start_of": value.block}
    assert isinstance(value, OpResult)
    return {"after": value.op}
