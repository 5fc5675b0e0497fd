"""The shardings of a program, and how to change all of them at once.

Most operations keep the shardings of their results in the discardable attribute `sdy.sharding`,
functions one for each argument and result, and some operations of sdy in attributes of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.interfaces import ShardingOwner
from sdyopt.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter

Transform = Callable[[TensorSharding], TensorSharding]


def transform_shardings(root: Op, transform: Transform, rewriter: Rewriter) -> None:
    """Puts `transform(sharding)` in place of every sharding of `root` and what is inside.

    `transform` is asked once for each different sharding, in the order in which they appear: those of
    an operation before those inside it, of arguments before results.
    """
    transformer = _Transformer(transform, rewriter)
    for op in root.walk():
        transformer.visit(op)


class _Transformer:
    """Remembers what came of what: a program has few shardings, and few dictionaries that hold them."""

    def __init__(self, transform: Transform, rewriter: Rewriter) -> None:
        self._transform = cache(transform)
        self._dictionary = cache(self._new_dictionary)
        self._rewriter = rewriter

    def visit(self, op: Op) -> None:
        if isinstance(op, FuncOp):
            self._signature(op)
        elif isinstance(op, ShardingOwner):
            self._inherent(op)
        elif SHARDING in op.attributes:
            self._rewriter.set_attributes(op, self._dictionary(op.attributes))

    def _signature(self, function: FuncOp) -> None:
        edit = self._rewriter
        for index, held in enumerate(function.argument_attributes):
            if SHARDING in held:
                edit.set_argument_attribute(function, index, SHARDING, self._new(held[SHARDING]))
        for index, held in enumerate(function.result_attributes):
            if SHARDING in held:
                edit.set_result_attribute(function, index, SHARDING, self._new(held[SHARDING]))

    def _inherent(self, op: Op) -> None:
        for name, value in op.signature.attributes:
            self._rewriter.set_attribute(op, name, self._new(value))

    def _new_dictionary(self, attributes: DictAttr) -> DictAttr:
        return attributes.with_entry(SHARDING, self._new(attributes[SHARDING]))

    def _new(self, attribute: Attribute) -> Attribute:
        """An attribute with the shardings in it transformed; others as they are."""
        if isinstance(attribute, TensorSharding):
            return self._transform(attribute)
        if isinstance(attribute, ShardingPerValue):
            return ShardingPerValue(tuple([self._transform(sharding) for sharding in attribute]))
        return attribute
