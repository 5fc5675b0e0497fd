"""The values of constant operations, `sdy.constant` included, and the ranges of integer types."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.ops import ConstantOp
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import IntegerType, Type, element_of


def constant_of(op: Op) -> Attribute | None:
    """The value of a constant operation; None for any other operation."""
    return op.signature.attributes.get("value") if isinstance(op, ConstantOp) else constant_value(op)


def constant_integer(op: Op) -> int | None:
    """The value of an integer constant with one element; None for any other operation."""
    value = constant_of(op)
    if not isinstance(value, DenseElements) or value.type.num_elements != 1:
        return None
    element = value.type.element
    if not isinstance(element, IntegerType):
        return None
    (integer,) = integers_of(value)
    return integer + (1 << element.width) if integer < 0 and element.is_unsigned else integer


def integer_range(type: Type) -> tuple[int, int] | None:
    """The lowest and the highest value of an integer type, or of a tensor's elements if they are integers.

    None for any other type.
    """
    element = element_of(type)
    if not isinstance(element, IntegerType):
        return None
    if element.is_unsigned:
        return 0, (1 << element.width) - 1
    return -(1 << (element.width - 1)), (1 << (element.width - 1)) - 1
