"""Constants of a program, as builtin dialects and sdy write them."""

from __future__ import annotations

from sdyopt.dialects.sdy.ops import ConstantOp
from sdyopt.dialects.stablehlo.attribute_kinds import integers_of
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.elements_attributes import DenseElements
from sdyopt.ir.folding import constant_value
from sdyopt.ir.operation import Op
from sdyopt.ir.types import IntegerType


def constant_of(op: Op) -> Attribute | None:
    """The value of a constant operation, `sdy.constant` included; None for any other operation."""
    return op.signature.attributes.get("value") if isinstance(op, ConstantOp) else constant_value(op)


def constant_integer(op: Op) -> int | None:
    """The value of a constant of one integer; None for any other operation."""
    value = constant_of(op)
    if not isinstance(value, DenseElements) or not isinstance(value.type.element, IntegerType):
        return None
    return integers_of(value)[0] if value.type.num_elements == 1 else None
