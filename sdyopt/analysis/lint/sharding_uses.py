"""All shardings of a program, in whichever attribute they are."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, nested_attributes
from sdyopt.mlir.ir.operation import Op


def shardings_in(module: Op) -> Iterator[TensorSharding]:
    """The shardings in the attributes of all operations, arguments and function results, in program order."""
    found: dict[DictAttr, tuple[TensorSharding, ...]] = {}
    for op in module.walk():
        for attributes in _dictionaries(op):
            if attributes not in found:
                found[attributes] = tuple(
                    each for each in _nested(attributes) if isinstance(each, TensorSharding)
                )
            yield from found[attributes]


def _dictionaries(op: Op) -> Iterator[DictAttr]:
    yield op.signature.attributes
    yield op.attributes
    if isinstance(op, FuncOp):
        yield from op.argument_attributes
        yield from op.result_attributes


def _nested(attributes: DictAttr) -> Iterator[Attribute]:
    for _, value in attributes.entries:
        yield from nested_attributes(value)
